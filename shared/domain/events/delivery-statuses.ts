/** `failed`: the last attempt failed. `stopped`: its webhook was disabled before it arrived. */
export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed', 'stopped'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];
