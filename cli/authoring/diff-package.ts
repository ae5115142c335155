import { comparePackages, type PackageChange } from '../../shared/domain/package/diff.ts';
import { versionHash } from '../../shared/domain/package/version-hash.ts';
import { readValidPackage } from '../package/check-package.ts';
import { findPublished } from '../registry/published.ts';
import type { Done, Session } from '../session.ts';
import type { Paint } from '../terminal.ts';
import { type Difference, differences } from './differences.ts';

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
        ...changeLines(changes, paint),
        ...found.flatMap((difference) => differenceLines(difference, paint)),
    ];
    return { result, lines };
}

/** `major`, `minor` or `patch` in its colour. */
export function changeWord(change: PackageChange['change'], paint: Paint): string {
    return paint(change === 'major' ? 'red' : change === 'minor' ? 'yellow' : 'green', change);
}

/** One line for each added, removed and changed endpoint and each added host. */
export function changeLines({ added, removed, changed, hosts_added }: PackageChange['changes'], paint: Paint): string[] {
    return [
        ...added.map((name) => `  ${paint('green', '+')} ${name}`),
        ...removed.map((name) => `  ${paint('red', '-')} ${name}`),
        ...changed.map((name) => `  ${paint('yellow', '~')} ${name}`),
        ...hosts_added.map((host) => `  ${paint('red', '!')} calls a host that it did not call before: ${host}`),
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
