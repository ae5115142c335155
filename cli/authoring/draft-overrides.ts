import { defined } from '../../shared/domain/defined.ts';
import { isCategory, nearCategories } from '../../shared/domain/package/taxonomy.ts';
import { normaliseSite } from '../../shared/domain/site/site-name.ts';
import { wrongUsage } from '../failures.ts';
import { PROGRAM } from '../settings.ts';

/** Values that the user sets for a draft. They replace those of the source. */
export interface DraftOverrides {
    site?: string;
    title?: string;
    category?: string;
}

/** Checks the values before anything is read or written. @throws CommandFault WRONG_USAGE, which says what to give instead */
export function readOverrides({ site, title, category }: DraftOverrides): DraftOverrides {
    const named = site === undefined ? undefined : normaliseSite(site);
    if (named?.ok === false) throw wrongUsage(`--site: ${named.message}`);
    if (category !== undefined && !isCategory(category)) {
        const near = nearCategories(category);
        const hint = near.length === 0 ? `"${PROGRAM} categories" lists them` : `did you mean ${near.join(' or ')}?`;
        throw wrongUsage(`--category: there is no category ${JSON.stringify(category)}; ${hint}`);
    }
    return defined({ site: named?.site, title, category });
}
