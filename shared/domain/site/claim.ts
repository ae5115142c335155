/**
 * Who speaks for a domain: `owner` where a maintainer has proved that it is theirs, `operator` where Routebook itself maintains it
 * or an operator transferred it, otherwise `unproven`: a contributor who came first.
 */
export const CLAIMS = ['owner', 'operator', 'unproven'] as const;
export type Claim = (typeof CLAIMS)[number];
