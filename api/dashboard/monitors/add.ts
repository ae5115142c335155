import type { Monitor } from '../../../shared/contracts/monitor-fields.ts';
import { MIN_INTERVAL } from '../../../shared/domain/monitors/bounds.ts';
import type { Endpoint } from '../../../shared/domain/types.ts';
import type { ErrorBody } from '../../../shared/refusals.ts';
import { actingCaller, CHOOSE_KEY, keysToActWith } from '../callers.ts';
import { besideField, keepTyped, line, oneOf, type Problems, readFields } from '../fields.ts';
import { findEndpoint, type NamedEndpoint } from '../find-endpoint.ts';
import { formats } from '../formats.ts';
import type { Answer, Shown, WorkspaceVisit } from '../page.ts';
import { paramFields, readParams, toProblems } from '../registry/try-form.ts';

const PATH = '/dashboard/monitors/new';
const EVERY = ['5m', '15m', '1h', '6h', '1d', '7d'] as const;
const CRON = 'cron';
const WHEN = ['changed', 'always', 'expression'] as const;
/** The fields of the API that the form has too. */
const NAMED = ['every', 'cron', 'timezone', 'watch', 'identity', 'name'];

const optional = (maxLength: number) => line({ minLength: 0, maxLength });
const FIELDS = {
    name: optional(200),
    every: oneOf([...EVERY, CRON]),
    cron: optional(100),
    timezone: optional(100),
    watch: optional(1000),
    identity: optional(1000),
    when: oneOf(WHEN),
    expression: optional(1000),
    per_day: optional(10),
};

/** GET /dashboard/monitors/new: asks for the endpoint, then for params and schedule. */
export async function showNew(visit: WorkspaceVisit, problems: Problems = {}): Promise<Shown> {
    const [site, endpoint] = [visit.query('site'), visit.query('endpoint')];
    const found = site === undefined || endpoint === undefined ? undefined : await findReadEndpoint(visit, site, endpoint);
    if (found !== undefined && !('problems' in found)) return form(visit, found, problems);
    const wrong = found?.problems ?? problems;
    return {
        view: 'monitors/choose',
        title: 'New monitor',
        model: { path: PATH, problems: wrong, typed: { site: site ?? '', endpoint: endpoint ?? '' } },
    };
}

/** POST /dashboard/monitors/new */
export async function addByForm(visit: WorkspaceVisit): Promise<Answer> {
    const { fields } = visit;
    const watched = await findReadEndpoint(visit, fields.get('site') ?? '', fields.get('endpoint') ?? '');
    if ('problems' in watched) return showNew(visit, watched.problems);
    const { site, endpoint } = watched;
    const read = readFields(fields, FIELDS);
    const { params, problems } = readParams(endpoint, fields);
    const as = await actingCaller(visit);
    const wrong: Record<string, string> = { ...problems, ...(read.ok ? {} : read.problems) };
    if (as === undefined) wrong['key'] = CHOOSE_KEY;
    if (read.ok && read.values.per_day !== '' && !/^[1-9]\d*$/.test(read.values.per_day)) wrong['per_day'] = 'Enter a whole number.';
    // Text in a field that is not selected would be dropped silently.
    if (read.ok && read.values.every !== CRON && read.values.cron !== '')
        wrong['every'] = 'Choose custom times, or clear the field for them.';
    if (read.ok && read.values.when !== 'expression' && read.values.expression !== '')
        wrong['when'] = 'Choose the expression, or clear the field for it.';
    if (!read.ok || as === undefined || Object.keys(wrong).length > 0) return form(visit, watched, wrong);
    const { every, cron, timezone, watch, identity, name, when, expression, per_day: perDay } = read.values;
    const body = {
        site,
        endpoint: endpoint.name,
        params,
        ...(every === CRON ? { cron, ...(timezone === '' ? {} : { timezone }) } : { every }),
        ...Object.fromEntries(Object.entries({ name, watch, identity }).filter(([, text]) => text !== '')),
        when: when === 'expression' ? { expression } : when,
        ...(perDay === '' ? {} : { max_credits_per_day: Number(perDay) }),
    };
    const answer = await visit.ask({ method: 'POST', path: '/v1/monitors', body, as });
    if (!answer.ok) return form(visit, watched, problemsOf(endpoint, answer.refused));
    const { monitor_id: id } = answer.body['data'] as Monitor;
    return { to: `/dashboard/monitors/${id}`, notice: 'monitor-added' };
}

/** Maps the API's problems to fields; the others belong to the form. */
function problemsOf(endpoint: Endpoint, refused: ErrorBody): Problems {
    const own = (refused.details ?? []).flatMap(({ path, message: text }) => {
        const field = path.split('/')[1] ?? '';
        if (field === 'when') return [['expression', besideField(text)] as const];
        return NAMED.includes(field) ? [[field, besideField(text)] as const] : [];
    });
    return own.length > 0 ? Object.fromEntries(own) : toProblems(endpoint, refused);
}

async function findReadEndpoint({ app }: WorkspaceVisit, site: string, name: string): Promise<NamedEndpoint | { problems: Problems }> {
    const found = await findEndpoint(app, site, name);
    if ('problems' in found || found.endpoint.effect === 'read') return found;
    return { problems: { endpoint: 'This endpoint may change something. Monitors only call read endpoints.' } };
}

async function form(visit: WorkspaceVisit, { site, endpoint }: NamedEndpoint, problems: Problems): Promise<Shown> {
    const { fields, workspace } = visit;
    const shortest = MIN_INTERVAL[workspace.plan];
    const every = EVERY.filter((text) => secondsOf(text) >= shortest).map((value) => ({ value, label: formats.every(value) }));
    return {
        view: 'monitors/new',
        title: 'New monitor',
        model: {
            path: PATH,
            site,
            endpoint: { name: endpoint.name, description: endpoint.description },
            params: paramFields(endpoint),
            keys: await keysToActWith(visit),
            every: [...every, { value: CRON, label: 'at custom times (cron)' }],
            problems,
            typed: keepTyped(fields),
        },
    };
}

function secondsOf(every: (typeof EVERY)[number]): number {
    const unit = { m: 60, h: 3600, d: 86_400 }[every.slice(-1)] ?? 1;
    return Number(every.slice(0, -1)) * unit;
}
