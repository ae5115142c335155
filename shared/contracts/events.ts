import Joi from 'joi';
import { EVENT_PREFIXES, EVENT_TYPES, type EventType } from '../domain/events/event-types.ts';
import type { JsonObject } from '../domain/types.ts';
import { contract } from './contract.ts';
import * as v from './vocabulary.ts';

export interface EventsQuery {
    /** With commas between. */
    types?: string;
    after?: string;
    /** Seconds. */
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
/** Longer than all names together. */
const MOST_CHARACTERS = 1000;

/** GET /v1/events: what happened in the last day, without frequent polling. */
export const getEvents = contract<object, EventsQuery, undefined, EventEntry[]>({
    name: 'getEvents',
    method: 'GET',
    path: '/v1/events',
    tag: 'Account',
    summary: 'Read what happened',
    description:
        'The oldest first, of the last 24 hours. `next_cursor` is never null: give it as `after` to read on from there, and no event is missed. With `wait` the answer comes as soon as there is an event. Events of `schema.*` are those of sites that the workspace maintains or fetched with success within 30 days.',
    auth: 'required',
    scope: 'account',
    managersOnly: true,
    ofWholeWorkspace: true,
    counted: false,
    query: Joi.object<EventsQuery, true>({
        types: Joi.string()
            .max(MOST_CHARACTERS)
            .custom((text: string, { error }) => {
                const unknown = text.split(',').find((name) => !NAMES.has(name));
                return unknown === undefined ? text : error('types.unknown', { unknown: unknown.slice(0, 50) });
            })
            .messages({
                'types.unknown': `{{#label}} has {{#unknown}}, which is no type of event; these are: ${[...NAMES].join(', ')}`,
            })
            .description(`Types or prefixes with commas between, such as ${EVENT_PREFIXES[0]}; all where it is left out`),
        after: v.cursor().description('next_cursor of the answer before'),
        wait: Joi.number().integer().min(0).max(30).default(0).description('Seconds to wait for an event where there is none'),
        limit: v.limit(),
    }),
    answer: {
        shape: 'list',
        status: 200,
        schema: Joi.array().items(
            Joi.object<EventEntry, true>({
                event_id: Joi.string().required().description('evt_…, the same each time it is listed'),
                type: Joi.string()
                    .valid(...EVENT_TYPES)
                    .required(),
                timestamp: v.time().required(),
                data: v.jsonObject().required().description('What happened'),
            }),
        ),
    },
    refusals: ['API_KEY_REQUIRED', 'INVALID_API_KEY', 'FORBIDDEN', 'INVALID_CURSOR', 'RATE_LIMITED'],
});
