/** The number of client addresses, since an API limits the connections of one address. */
const CLIENTS = 250;
let next = 0;

/** The address of the next client, in turn from 127.0.1.0/24. */
export function clientAddress(): string {
    next = (next + 1) % CLIENTS;
    return `127.0.1.${next + 1}`;
}
