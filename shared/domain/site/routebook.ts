/** The operator's own workspace. It maintains the packages that the installation publishes. */
export const ROUTEBOOK_WORKSPACE = 'wsp_routebook';
