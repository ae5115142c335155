import { pollUntil } from '../platform/poll-until.ts';
import { isUp } from './is-up.ts';

const LOOKS = { everyMs: 20, maxMs: 1000 };

/** Opens connections before the first call needs them. Waits for at most a second, so in an outage the process starts without them. */
export async function connect(parts: readonly (() => PromiseLike<unknown>)[]): Promise<void> {
    await Promise.all(
        parts.map((part) =>
            pollUntil(
                LOOKS,
                () => isUp(part),
                (isOpen) => isOpen,
            ),
        ),
    );
}
