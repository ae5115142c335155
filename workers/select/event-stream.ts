import { createParser } from 'eventsource-parser';
import { InvalidResponse } from './invalid-response.ts';
import { joinJson } from './json-lines.ts';

/** The data of the last event of many streams. It is not JSON. */
const END = '[DONE]';

/** A line of an event stream: a field or a comment. */
const LINE = /^(?:data|event|id|retry)?:|^data$/m;

/**
 * The data of an event stream (`text/event-stream`) as the JSON `{"items": […]}`, with their text unchanged. Skips events without data, and
 * a last event with `[DONE]`. The last event may lack the empty line after it.
 * @throws InvalidResponse for a text without a line of such a stream, and one that names the first event whose data are not JSON
 */
export function eventsAsJson(text: string): string {
    if (text.trim() !== '' && !LINE.test(text)) throw new InvalidResponse('The answer is no event stream.');
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
