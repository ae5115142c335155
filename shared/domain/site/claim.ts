/**
 * Who speaks for a domain. `owner`: a maintainer has proven to own it. `operator`: Routebook itself maintains it, or an operator
 * transferred it. `unproven`: the first contributor maintains it.
 */
export const CLAIMS = ['owner', 'operator', 'unproven'] as const;
export type Claim = (typeof CLAIMS)[number];
