import type { YankReason } from '../../shared/domain/package/registry-choices.ts';
import { wrongUsage } from '../failures.ts';
import type { Done, Session } from '../session.ts';

/** `routebook yank SITE VERSION`: yanks or restores a version. */
export async function yankVersion(
    { client, terminal: { paint } }: Session,
    site: string,
    version: number,
    { reason, undo }: { reason?: YankReason; undo?: true },
): Promise<Done> {
    if (undo === true && reason !== undefined) throw wrongUsage('--undo takes no --reason');
    if (undo === true) {
        const result = await client().schemas.unyank(site, version);
        return { result, lines: [`${paint('green', '✓')} ${site} version ${version} is restored`] };
    }
    if (reason === undefined) throw wrongUsage('--reason is required: broken, security or legal');
    const result = await client().schemas.yank(site, version, { reason });
    return { result, lines: [`${paint('green', '✓')} ${site} version ${version} is yanked: ${reason}`] };
}
