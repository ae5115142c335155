import { VERSION } from './version.ts';

/** The User-Agent with which we call sites: name, version, and a page about us for their owners. */
export function userAgent(publicUrl: string): string {
    return `Routebook/${VERSION} (+${publicUrl}/abuse)`;
}
