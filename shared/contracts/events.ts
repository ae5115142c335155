import Joi from 'joi';
import { EVENT_PREFIXES, EVENT_TYPES, type EventType } from '../domain/events/event-types.ts';
import type { JsonObject } from '../domain/types.ts';
import { contract } from './contract.ts';
import * as v from './vocabulary.ts';

export interface EventsQuery {
    /** Names separated by commas. */
    types?: string;
    after?: string;
    /** In seconds. */
    wait?: number;
    limit?: number;
}

export interface EventEntry {
    event_id: string;
    type: EventType;
    timestamp: string;
    data: JsonObject;
}

const NAMES: ReadonlySet<string> = new Set([...EVENT_TYPES, ...EVENT_PREFIXES]);
/** Longer than all names together, in characters. */
const MAX_CHARACTERS = 1000;

export const getEvents = contract('getEvents', 'GET /v1/events', {
    tag: 'Account',
    summary: 'Read events',
    window: 'reads',
    description:
        'Events of the last 24 hours, oldest first. `next_cursor` is never null: pass it as `after` to continue without missing an event. With `wait` the call returns as soon as there is an event. `schema.*` events concern sites that the workspace maintains or fetched successfully within 30 days.',
    scope: 'account',
    managersOnly: true,
    ofWholeWorkspace: true,
    query: Joi.object<EventsQuery, true>({
        types: Joi.string()
            .max(MAX_CHARACTERS)
            .custom((text: string, { error }) => {
                const unknown = text.split(',').find((name) => !NAMES.has(name));
                return unknown === undefined ? text : error('types.unknown', { unknown: unknown.slice(0, 50) });
            })
            .messages({ 'types.unknown': `{{#label}} has the unknown type {{#unknown}}; use: ${[...NAMES].join(', ')}` })
            .description(`Types or prefixes separated by commas, such as ${EVENT_PREFIXES[0]}; all types by default`),
        after: v.cursor().description('next_cursor of the previous answer'),
        wait: v.integer(0, 30).default(0).description('Seconds to wait if there is no event yet'),
        limit: v.limit(),
    }),
    answer: {
        shape: 'list',
        schema: () =>
            v.objects<EventEntry>({
                event_id: Joi.string().description('evt_…, the same in each listing and delivery'),
                type: v.oneOf(EVENT_TYPES),
                timestamp: v.time(),
                data: v.jsonObject().description('The content of the event'),
            }),
    },
});
