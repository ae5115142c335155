import canonicalize from 'canonicalize';
import { escapePointer } from '../../shared/domain/json/json-bounds.ts';
import { isObject } from '../../shared/domain/json/schema/structure.ts';
import { comparePackages, type PackageChange } from '../../shared/domain/package/diff.ts';
import { versionHash } from '../../shared/domain/package/version-hash.ts';
import type { Json, PackageDocument } from '../../shared/domain/types.ts';
import { readValidPackage } from '../package/check-package.ts';
import { findPublished } from '../registry/published.ts';
import type { Done, Session } from '../session.ts';
import type { Paint } from '../terminal.ts';

/** `routebook diff FILE`: shows what publishing the file would change for callers. */
export async function diffPackage(session: Session, path: string): Promise<Done> {
    const { terminal, settings } = session;
    const { document } = await readValidPackage(path, terminal, settings);
    const published = await findPublished(session.client(), document.site);
    const isSame = published?.versionHash === versionHash(document);
    const { change, changes } = comparePackages(published?.document, document);
    const found = published === undefined ? [] : differences(published.document, document);
    const { paint } = terminal;
    const title = published === undefined ? 'has no version yet' : `against version ${published.version}`;
    const result = {
        site: document.site,
        published_version: published?.version ?? null,
        published_hash: published?.versionHash ?? null,
        is_same: isSame,
        change: isSame ? null : change,
        changes,
        differences: found,
    };
    if (isSame) return { result, lines: [`${document.site} ${title}: no difference`] };
    const lines = [
        `${paint('bold', document.site)} ${title}: ${changeWord(change, paint)}`,
        ...changeLines(changes, paint, published === undefined),
        ...found.flatMap((difference) => differenceLines(difference, paint)),
    ];
    return { result, lines };
}

/** `major`, `minor` or `patch` in its colour. */
export function changeWord(change: PackageChange['change'], paint: Paint): string {
    return paint(change === 'major' ? 'red' : change === 'minor' ? 'yellow' : 'green', change);
}

/** One line for each added, removed or changed endpoint and each added host. New hosts of a first version get no warning. */
export function changeLines({ added, removed, changed, hosts_added }: PackageChange['changes'], paint: Paint, isFirst: boolean): string[] {
    return [
        ...added.map((name) => `  ${paint('green', '+')} ${name}`),
        ...removed.map((name) => `  ${paint('red', '-')} ${name}`),
        ...changed.map((name) => `  ${paint('yellow', '~')} ${name}`),
        ...hosts_added.map((host) =>
            isFirst ? `  calls ${host}` : `  ${paint('red', '!')} calls a host that it did not call before: ${host}`,
        ),
    ];
}

function differenceLines({ path, before, after }: Difference, paint: Paint): string[] {
    return [
        `    ${paint('cyan', path)}`,
        ...(before === undefined ? [] : [`      ${paint('red', `- ${short(before)}`)}`]),
        ...(after === undefined ? [] : [`      ${paint('green', `+ ${short(after)}`)}`]),
    ];
}

function short(value: unknown): string {
    const text = JSON.stringify(value);
    return text.length > 160 ? `${text.slice(0, 160).toWellFormed()}…` : text;
}

interface Difference {
    /** Path from the package down, with names of endpoints and params. */
    path: string;
    /** Absent if it was added. */
    before?: Json;
    /** Absent if it was removed. */
    after?: Json;
}

/** Lists the differences of heads and endpoints. Endpoints and params are matched by name, other lists by order. */
function differences(before: PackageDocument, after: PackageDocument): Difference[] {
    const found: Difference[] = [];
    const { endpoints: old, ...oldHead } = before;
    const { endpoints: now, ...newHead } = after;
    compare(asJson(oldHead), asJson(newHead), '', found);
    for (const endpoint of now) {
        const earlier = old.find(({ name }) => name === endpoint.name);
        if (earlier !== undefined) compare(asJson(earlier), asJson(endpoint), `/endpoints/${endpoint.name}`, found);
    }
    return found;
}

/** Safe, since parts of a package come from JSON. */
function asJson(part: object): Json {
    return part as Json;
}

/** The recursion is bounded: both packages passed the rules, which allow 32 levels. */
function compare(before: Json | undefined, after: Json | undefined, path: string, found: Difference[]): void {
    if (canonicalize(before) === canonicalize(after)) return;
    const [old, now] = [parts(before), parts(after)];
    if (old === undefined || now === undefined) {
        found.push({ path, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) });
        return;
    }
    for (const key of new Set([...old.keys(), ...now.keys()])) compare(old.get(key), now.get(key), `${path}/${escapePointer(key)}`, found);
}

/** The members of an object, or the named items of a list. Undefined for all other values, which are compared as a whole. */
function parts(value: Json | undefined): Map<string, Json> | undefined {
    if (typeof value !== 'object' || value === null) return undefined;
    if (!Array.isArray(value)) return new Map(Object.entries(value));
    const named = value.map((item): [string, Json] => [nameOf(item) ?? '', item]);
    const names = new Set(named.map(([name]) => name));
    return value.length > 0 && names.size === value.length && !names.has('') ? new Map(named) : undefined;
}

function nameOf(item: Json): string | undefined {
    return isObject(item) && typeof item['name'] === 'string' ? item['name'] : undefined;
}
