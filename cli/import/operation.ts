import type { PackageAuth, PackageEndpoint } from '../../shared/domain/types.ts';

/** A part of the document that the draft leaves out. */
export interface NotCarried {
    where: string;
    why: string;
    /** A whole operation, a part of an imported operation, or another part of the document. */
    scope: 'operation' | 'part' | 'document';
}

/** Lists a part of the document, outside of its operations, that the draft leaves out. */
export function leaveOut(notCarried: NotCarried[], where: string, why: string): void {
    notCarried.push({ where, why, scope: 'document' });
}

/** A part of an operation that the draft leaves out. */
export interface LeftOut {
    name: string;
    why: string;
}

/** The reason why something of the document cannot be read. */
export interface NotRead {
    ok: false;
    why: string;
}

/** An imported operation: the endpoint, and its place in the document. */
export interface ReadOperation {
    where: string;
    endpoint: PackageEndpoint;
    tag?: string;
    /** Entries of the package's `auth` that its calls may use. */
    auth?: readonly PackageAuth[];
}
