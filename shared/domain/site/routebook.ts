/** The operator's own workspace, made by migration 0100: it maintains what the installation itself publishes. */
export const ROUTEBOOK_WORKSPACE = 'wsp_routebook';
