/* SPDX-License-Identifier: Apache-2.0 */
#include "route.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <warpscope/provider.h>

#undef exit

enum { ROUTES = 8 };

struct route {
	CUDBGAPI api; /* NULL: free */
	CUDBGAPI below;
	struct ws_provider provider;
	int socket; /* of the server */
	int client; /* the other end, which is the table's */
	pthread_t server;
	enum ws_status status; /* of the server at its end */
};

static struct route routes[ROUTES];

bool route_is_socket(void)
{
	const char *route = getenv("WS_TEST_ROUTE");
	return route && (!strcmp(route, "socket") || route_is_cut());
}

bool route_is_cut(void)
{
	const char *route = getenv("WS_TEST_ROUTE");
	return route && !strcmp(route, "cut");
}

void route_cut(CUDBGAPI api)
{
	for (struct route *route = routes; route < routes + ROUTES; route++)
		if (route->api == api)
			(void)shutdown(route->client, SHUT_RDWR);
}

static void *serve(void *data)
{
	struct route *route = data;
	route->status = ws_cudbg_serve(&route->provider, route->socket, NULL);
	return NULL;
}

enum ws_status route_open_socket(struct ws_target *target, CUDBGAPI *ret_api)
{
	struct route *route = routes;
	int ends[2];
	while (route->api)
		if (++route == routes + ROUTES)
			return WS_LIMIT;
	enum ws_status st = ws_cudbg_api(target, &route->below, NULL);
	if (st != WS_OK)
		return st;
	route->provider = (struct ws_provider){ .api = route->below,
						.major = UINT32_MAX,
						.capabilities = &cudbgDebuggerCapabilities };
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		exit(3);
	route->socket = ends[1];
	route->client = ends[0];
	if (pthread_create(&route->server, NULL, serve, route) != 0)
		exit(3);
	st = ws_cudbg_connect(ends[0], &route->api, NULL);
	*ret_api = route->api;
	return st;
}

enum ws_status route_open(struct ws_target *target, CUDBGAPI *ret_api)
{
	return route_is_socket() ? route_open_socket(target, ret_api)
				 : ws_cudbg_api(target, ret_api, NULL);
}

void route_close(CUDBGAPI api)
{
	ws_cudbg_release(api);
	for (struct route *route = routes; api && route < routes + ROUTES; route++) {
		if (route->api != api)
			continue;
		pthread_join(route->server, NULL);
		ws_cudbg_release(route->below);
		close(route->socket);
		route->api = NULL;
		if (route->status != WS_OK)
			exit(4); /* our own client must be understood */
	}
}
