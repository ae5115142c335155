/** The registry: what is published, which version counts, and what it says. Import it as a namespace: `schemas.publish(…)`. */
export { type CardRow, card, cards } from './cards.ts';
export { findVersion, type HistoryRow, history } from './history.ts';
export { type Published, type Publisher, type PublishOrder, type PublishRefusal, publish } from './publish.ts';
export { findLatest, type Latest, openLatest, type SiteQuestion, type Standing } from './standings.ts';
export { publishStarter } from './starter.ts';
export { mayRun, type VersionRef, YANK_REASONS, type YankReason } from './version-rows.ts';
export { type LoadedVersion, leastUnits, openVersions, readPackage, readPackageText, type Versions } from './versions.ts';
export { unyank, type Yanked, type YankOrder, yank, yankAsMaintainer } from './yank.ts';
