-- Records of `warpscope triage --jsonl` (or --records) as tables of DuckDB, and ten questions. SPDX-License-Identifier: Apache-2.0
--
--   $ duckdb fleet.db
--   SET VARIABLE records = 'part-*.jsonl';     -- files, as read_json takes them; a list of patterns, too
--   .read triage.sql
--   FROM new_bugs;
--   FROM since(INTERVAL 7 DAY);
--   COPY records TO 'fleet.parquet';           -- later, after .read: CREATE OR REPLACE VIEW records AS FROM 'fleet.parquet';
--
-- The columns are those of docs/schema/warpscope-triage-1.json, in its order. A dump that has two records counts once; a line that was cut by a
-- kill is no record.

CREATE OR REPLACE VIEW records AS
    SELECT * FROM read_json(getvariable('records'), format = 'newline_delimited', ignore_errors = true, columns = {
        schema: 'VARCHAR', key: 'VARCHAR', path: 'VARCHAR', bytes: 'UBIGINT', written: 'UBIGINT', status: 'VARCHAR', why: 'VARCHAR',
        verdict: 'VARCHAR', summary: 'VARCHAR', signature: 'VARCHAR', signature_version: 'UBIGINT', signature_what: 'VARCHAR',
        signature_kernel: 'VARCHAR', signature_functions: 'VARCHAR', signature_last: 'VARCHAR', exception: 'VARCHAR', blame: 'VARCHAR',
        kernel: 'VARCHAR', kernel_mangled: 'VARCHAR', collective: 'VARCHAR', waits_for: 'VARCHAR', function: 'VARCHAR', file: 'VARCHAR',
        line: 'UBIGINT', resident_warps: 'UBIGINT', devices: 'UBIGINT', device: 'UBIGINT', device_name: 'VARCHAR', device_type: 'VARCHAR',
        pci: 'VARCHAR', host: 'VARCHAR', pid: 'UBIGINT', rank: 'UBIGINT', rank_from: 'VARCHAR', rank_why: 'VARCHAR', ranks: 'UBIGINT', job: 'VARCHAR',
        time: 'UBIGINT', time_from: 'VARCHAR', driver: 'VARCHAR', cuda: 'VARCHAR', sm: 'UBIGINT', compiler: 'VARCHAR', code_id: 'VARCHAR',
        lines: 'BOOLEAN', complete: 'BOOLEAN', cut: 'BOOLEAN', diagnostics: 'UBIGINT', damage: 'VARCHAR'})
    WHERE schema = 'warpscope-triage-1' AND key IS NOT NULL
    QUALIFY row_number() OVER (PARTITION BY key) = 1;

-- Each dump with its job (its folder, and what its name says), when it was, and where the code is.
CREATE OR REPLACE VIEW dumps AS
    SELECT regexp_replace(path, '[^/]*$', '') || coalesce(' job ' || job, '') AS job_name,
           make_timestamp(CAST(coalesce(time, written) * 1000000 AS BIGINT)) AS seen, -- UTC
           coalesce(regexp_replace(file, '^.*/', '') || coalesce(':' || line, ''), function) AS place,
           * FROM records;

-- 1. Which bugs are there?
CREATE OR REPLACE VIEW bugs AS
    SELECT count(*) AS dumps, count(DISTINCT job_name) AS jobs, count(DISTINCT host) AS hosts, min(seen) AS first, max(seen) AS last,
           any_value(verdict) AS verdict, signature, mode(place) AS place, arg_min(path, (NOT complete, path)) AS example
    FROM dumps WHERE signature IS NOT NULL GROUP BY signature ORDER BY dumps DESC, signature;

-- 2. Which are new since then? new_bugs: since yesterday.
CREATE OR REPLACE MACRO since(age) AS TABLE
    SELECT * FROM bugs WHERE first >= make_timestamp(epoch_us(now())) - age ORDER BY first DESC, signature;
CREATE OR REPLACE VIEW new_bugs AS
    SELECT * FROM bugs WHERE first >= date_trunc('day', make_timestamp(epoch_us(now()))) - INTERVAL 1 DAY ORDER BY first DESC, signature;

-- 3. Does a bug come with a driver?
CREATE OR REPLACE VIEW by_driver AS
    SELECT signature, driver, count(*) AS dumps, min(seen) AS first, max(seen) AS last
    FROM dumps WHERE signature IS NOT NULL GROUP BY ALL ORDER BY signature, dumps DESC, driver;

-- 4. Which GPUs fault again, and are their bugs different ones? Then the GPU may be the cause.
CREATE OR REPLACE VIEW by_gpu AS
    SELECT host, pci, any_value(device_name) AS device_name, count(*) AS faults, count(DISTINCT job_name) AS jobs,
           count(DISTINCT signature) AS signatures, max(seen) AS last
    FROM dumps WHERE verdict = 'fault' AND host IS NOT NULL AND pci IS NOT NULL
    GROUP BY host, pci ORDER BY signatures DESC, jobs DESC, faults DESC, host, pci;

-- 5. Which code is it, whatever its name and address? Two builds of one function differ here.
CREATE OR REPLACE VIEW by_code AS
    SELECT code_id, any_value(signature_kernel) AS kernel, any_value(compiler) AS compiler, any_value(sm) AS sm, bool_or(lines) AS lines,
           count(*) AS dumps, count(DISTINCT signature) AS signatures, min(seen) AS first, max(seen) AS last
    FROM dumps WHERE code_id IS NOT NULL AND signature IS NOT NULL GROUP BY code_id ORDER BY dumps DESC, code_id;

-- 6. On which kinds of GPU?
CREATE OR REPLACE VIEW by_device AS
    SELECT signature, device_name, device_type, count(*) AS dumps FROM dumps WHERE signature IS NOT NULL
    GROUP BY ALL ORDER BY signature, dumps DESC, device_name;

-- 7. Is it becoming more?
CREATE OR REPLACE VIEW by_day AS
    SELECT CAST(seen AS DATE) AS day, count(*) AS dumps, count(*) FILTER (verdict = 'fault') AS faults,
           count(*) FILTER (verdict = 'hang') AS hangs, count(DISTINCT signature) AS bugs, count(DISTINCT job_name) AS jobs
    FROM dumps GROUP BY day ORDER BY day;

-- 8. Which jobs hang in collectives, and is somebody missing there? outside: ranks that do not wait in it.
CREATE OR REPLACE VIEW by_collective AS
    SELECT job_name, mode(collective) AS collective, count(*) FILTER (verdict = 'hang' AND collective IS NOT NULL) AS waiting,
           count(*) FILTER (verdict = 'fault') AS faults,
           count(*) FILTER (status = 'read' AND verdict <> 'fault' AND NOT (verdict = 'hang' AND collective IS NOT NULL)) AS outside,
           count(*) FILTER (status = 'failed') AS unreadable
    FROM dumps GROUP BY job_name HAVING waiting > 0 ORDER BY waiting DESC, job_name;

-- 9. Is it always the same rank?
CREATE OR REPLACE VIEW by_rank AS
    SELECT signature, rank, count(*) AS dumps, count(DISTINCT job_name) AS jobs FROM dumps
    WHERE signature IS NOT NULL AND rank IS NOT NULL GROUP BY ALL ORDER BY signature, dumps DESC, rank;

-- 10. Which dumps tell nothing, or not all, and why?
CREATE OR REPLACE VIEW unreadable AS
    SELECT path, host, bytes, CASE WHEN status = 'failed' THEN 'cannot be read' WHEN cut THEN 'is cut' ELSE 'is damaged' END AS state,
           coalesce(why, damage) AS why
    FROM dumps WHERE status = 'failed' OR cut OR NOT complete ORDER BY state, path;
