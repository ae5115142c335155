import type { FindEffect } from '../../shared/agents/effects.ts';
import type { App } from '../../shared/app.ts';
import { normaliseSite } from '../../shared/domain/site/site-name.ts';

/** Finds the effect of an endpoint in the versions that this process has in memory. */
export function effectsOf(app: App): FindEffect {
    return async ({ site: written, endpoint, version: named }) => {
        const name = normaliseSite(written);
        if (!name.ok) return undefined;
        const { version } = await app.latest.find({ site: name.site, registrable: name.registrable, version: named });
        if (version === undefined) return undefined;
        const found = (await app.versions.load(version.versionId))?.endpoints.get(endpoint);
        return found && { version: version.version, effect: found.effect };
    };
}
