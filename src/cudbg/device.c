/* SPDX-License-Identifier: Apache-2.0 */
/* Properties of devices: constant through a session. */
#include "cudbg-functions.h"

CUDBGResult wsi_cudbg_getNumDevices(struct wsi_cudbg *s, uint32_t *numDev)
{
	*numDev = s->stock->n_devices;
	return CUDBG_SUCCESS;
}

#define DEFINE_NUMBER(name, value)                                                 \
	CUDBGResult wsi_cudbg_##name(struct wsi_cudbg *s, struct wsi_cudbg_at *at, \
				     uint32_t *number)                             \
	{                                                                          \
		(void)s;                                                           \
		*number = at->device->value;                                       \
		return CUDBG_SUCCESS;                                              \
	}

DEFINE_NUMBER(getNumSMs, n_sms)
DEFINE_NUMBER(getNumWarps, n_warps)
DEFINE_NUMBER(getNumLanes, n_lanes)
DEFINE_NUMBER(getNumRegisters, device.n_regs_per_lane)
DEFINE_NUMBER(getNumPredicates, device.n_preds_per_lane)
/* 0 where the target does not know: GPUs before Turing have none. */
DEFINE_NUMBER(getNumUniformRegisters, device.n_uniform_regs)
DEFINE_NUMBER(getNumUniformPredicates, device.n_uniform_preds)

CUDBGResult wsi_cudbg_getDeviceName(struct wsi_cudbg *s, struct wsi_cudbg_at *at, char *buf,
				    uint32_t sz)
{
	return wsi_cudbg_text_out(s, at->device->device.name, buf, sz, NULL);
}

CUDBGResult wsi_cudbg_getDeviceType(struct wsi_cudbg *s, struct wsi_cudbg_at *at, char *buf,
				    uint32_t sz)
{
	return wsi_cudbg_text_out(s, at->device->device.type, buf, sz, NULL);
}

CUDBGResult wsi_cudbg_getSmType(struct wsi_cudbg *s, struct wsi_cudbg_at *at, char *buf,
				uint32_t sz)
{
	return wsi_cudbg_text_out(s, at->device->device.sm_type, buf, sz, NULL);
}

CUDBGResult wsi_cudbg_getDevicePCIBusInfo(struct wsi_cudbg *s, struct wsi_cudbg_at *at,
					  uint32_t *pciBusId, uint32_t *pciDevId)
{
	(void)s;
	*pciBusId = at->device->device.pci_bus;
	*pciDevId = at->device->device.pci_device;
	return CUDBG_SUCCESS;
}
