/** The operator's own workspace, created by migration 0100. It maintains the packages that the installation publishes. */
export const ROUTEBOOK_WORKSPACE = 'wsp_routebook';
