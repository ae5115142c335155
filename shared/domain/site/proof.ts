import { randomBase62 } from '../text/ids.ts';

export const CLAIM_STATUSES = ['pending', 'proven', 'failed'] as const;
/** `failed`: the last look-up found no proof. The claim may be checked again until it expires. */
export type ClaimStatus = (typeof CLAIM_STATUSES)[number];

export type ProofMethod = 'dns' | 'file';

/** Maximum size of the file that proves a claim, in bytes. */
export const PROOF_FILE_BYTES = 1024;

export function newClaimToken(): string {
    return randomBase62(32);
}

/** The proof of a claim: text of the TXT record, and one line of the file. */
export function proofLine(token: string): string {
    return `routebook-claim=${token}`;
}

/** The name of the TXT record that proves a domain. */
export function proofName(registrable: string): string {
    return `_routebook.${registrable}`;
}

export function proofUrl(registrable: string): string {
    return `https://${registrable}/.well-known/routebook.txt`;
}

/** Whether any line of the file belongs to the claim. Other lines may belong to other claims. */
export function hasProofLine(file: string, token: string): boolean {
    return file.split(/\r\n|\n|\r/).some((line) => line.trim() === proofLine(token));
}
