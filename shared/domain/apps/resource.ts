import { normaliseSite } from '../site/site-name.ts';

/** The resource of the general tools. Its tokens also work for each site's tools. */
export const EVERY_TOOL = '/mcp';

const MAX = 2048;

/** The path of the resource (RFC 8707) that an app requests; `/mcp` if it names none; undefined if it is unknown. */
export function readResource(text: string | undefined, publicUrl: string): string | undefined {
    if (text === undefined) return EVERY_TOOL;
    const url = text.length > MAX ? null : URL.parse(text);
    if (url === null || url.origin !== new URL(publicUrl).origin || url.search !== '' || url.hash !== '') return undefined;
    const path = url.pathname.replace(/\/$/, '');
    if (path === EVERY_TOOL) return path;
    const site = /^\/mcp\/([^/%]+)$/.exec(path)?.[1];
    const name = site === undefined ? undefined : normaliseSite(site);
    return name?.ok === true && name.site === site ? path : undefined;
}
