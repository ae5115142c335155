/** The registry: published packages, their versions and their content. Import it as a namespace: `schemas.publish(…)`. */
export { type CardRow, card, cards } from './cards.ts';
export { findVersion, type HistoryRow, history, mayRun, type VersionRef, YANK_REASONS, type YankReason } from './history.ts';
export type { Published, Publisher, PublishOrder, PublishRefusal } from './publication.ts';
export { publish } from './publish.ts';
export { createLatest, findLatest, type Latest, type SiteQuestion, type SiteState } from './site-states.ts';
export { publishStarter, type StarterLoad } from './starter.ts';
export { createVersions, lowestMaxUnits, readPackageText, type Versions } from './versions.ts';
export { unyank, yank, yankAsMaintainer, yankAsOperator } from './yank.ts';
