import type { EventEntry } from '../client/index.ts';
import { type Done, PATIENT, type Session } from '../session.ts';

/** Seconds that one read waits for an event, and the maximum number of events that it returns. */
const WAIT = 30;
const MAX = 100;

/** `routebook webhook listen`: prints events as they happen, until it is interrupted. Needs no webhook. */
export async function listen({ client, terminal, isJson, note }: Session, { events: types }: { events: string[] }): Promise<Done> {
    const { events } = client();
    const query = { limit: MAX, ...(types.length === 0 ? {} : { types: types.join(',') }) };
    let part = await events.read(query);
    // Skip earlier events.
    while (part.events.length === MAX) part = await events.read({ ...query, after: part.after });
    note('listening; stop with Ctrl-C');
    const { events: patient } = client(PATIENT);
    for (;;) {
        part = await patient.read({ ...query, after: part.after, wait: WAIT });
        for (const event of part.events) terminal.print(isJson ? JSON.stringify(event) : lineOf(event, terminal.paint));
    }
}

/** Without the result of a job, which may be longer than the screen. */
function lineOf({ timestamp, type, data: { result: _, ...data } }: EventEntry, paint: Session['terminal']['paint']): string {
    return `${paint('dim', timestamp)}  ${paint('bold', type)}  ${JSON.stringify(data)}`;
}
