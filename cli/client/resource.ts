import type { Transport } from './transport.ts';

/** Routes of one kind, such as jobs or webhooks. */
export abstract class Resource {
    protected readonly transport: Transport;

    constructor(transport: Transport) {
        this.transport = transport;
    }
}
