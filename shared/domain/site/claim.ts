/** `owner`: a maintainer proved to own it. `operator`: Routebook maintains or transferred it. `unproven`: the first contributor does. */
export const CLAIMS = ['owner', 'operator', 'unproven'] as const;
export type Claim = (typeof CLAIMS)[number];
