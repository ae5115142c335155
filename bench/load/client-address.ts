/** An API bounds what one client address may open. */
const CLIENTS = 250;
let next = 0;

/** The address of the next client: they come from all over 127.0.1.0/24. */
export function clientAddress(): string {
    next = (next + 1) % CLIENTS;
    return `127.0.1.${next + 1}`;
}
