/** The code of an error of Node.js, of the database or of a library; empty if it has none. */
export function codeOfError(error: unknown): string {
    return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
