import type { JsonSchema } from '../../shared/domain/types.ts';
import { answerTasks } from './child-loop.ts';
import { catchInvalid, InvalidResponse, type Refused, TOO_MUCH_WORK } from './invalid-response.ts';
import { extractPlain, type RawPage, type ResponseRules } from './parse-page.ts';
import type { WantedOfStep } from './prepare-page.ts';
import { type Content, readPage, type Wanted } from './read-page.ts';
import { joinParts, type Part, readPart, type WantedPart } from './read-part.ts';
import { unpacked } from './unpack.ts';
import { readWatched, type Watched, type WatchOrder } from './watched.ts';

/** A task for a child: read a single answer, read one page of several, join pages, prepare from a page, or watch a result. */
export type Task =
    | { what: 'page'; page: RawPage; rules: ResponseRules; wanted: Wanted }
    | ({ what: 'part'; page: RawPage; rules: ResponseRules } & WantedPart)
    | { what: 'join'; texts: readonly string[]; schema: JsonSchema | undefined; wanted: Wanted }
    | { what: 'prepare'; page: RawPage; wanted: WantedOfStep }
    | ({ what: 'watch' } & WatchOrder);

/** The results by task. A prepared page and `next` are JSON text, since ExactNumbers do not cross processes. */
interface Results {
    page: Content;
    part: Omit<Part, 'next'> & { next?: string };
    join: Content;
    prepare: { text: string };
    watch: Watched;
}

type What = Task['what'];

export type TaskAnswer<W extends What> = ({ ok: true } & Results[W]) | Refused;

/** The libraries for HTML, XML and feeds are large, so a child for JSON does not load them. */
const html = process.argv[2] === 'html' ? { ...(await import('./markup.ts')), ...(await import('./prepare-page.ts')) } : undefined;

answerTasks<Task>((task) => {
    return catchInvalid((): TaskAnswer<What> & { ok: true } => {
        try {
            return { ok: true, ...perform(task) };
        } catch (error) {
            // A stack overflow, or a string beyond V8's limit: the page exceeds the limits of a result.
            throw error instanceof RangeError ? new InvalidResponse(TOO_MUCH_WORK) : error;
        }
    });
});

function perform(task: Task): Results[What] {
    const parse = html?.parseMarkup;
    if (task.what === 'page') return readPage(unpacked(task.page), task.rules, task.wanted, parse, { isMeasured: true });
    if (task.what === 'join') return joinParts(task.texts, task.schema, task.wanted);
    if (task.what === 'prepare') {
        const { wanted } = task;
        const page = unpacked(task.page);
        return { text: JSON.stringify(html?.prepareFromMarkup(page, wanted) ?? { found: extractPlain(page, wanted) }) };
    }
    if (task.what === 'watch') return readWatched(task);
    const { next, ...part } = readPart(unpacked(task.page), task.rules, task, parse, { isMeasured: true });
    return next === undefined ? part : { ...part, next: JSON.stringify(next) };
}
