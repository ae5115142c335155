import { createParser } from 'eventsource-parser';
import { joinJson } from './json-lines.ts';

/** The data of the last event of many streams. It is not JSON. */
const END = '[DONE]';

/**
 * The data of an event stream (`text/event-stream`) as the JSON `{"items": […]}`, with their text unchanged. Skips events without data, and
 * a last event with `[DONE]`. The last event may lack the empty line after it.
 * @throws InvalidResponse that names the first event whose data are not JSON
 */
export function eventsAsJson(text: string): string {
    const events: string[] = [];
    const parser = createParser({
        onEvent: ({ data }) => {
            if (data.trim() !== '') events.push(data);
        },
    });
    parser.feed(text);
    parser.feed('\n\n');
    if (events.at(-1)?.trim() === END) events.pop();
    return joinJson(events.map((data, place) => ({ text: data, name: `Event ${place + 1}` })));
}
