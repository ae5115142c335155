/** The values from which callers of the registry choose. Routes, pages and the command line read the same lists. */

export const DOWNLOAD_FORMATS = ['routebook', 'openapi', 'tools', 'postman', 'bruno', 'typescript', 'python'] as const;
export type DownloadFormat = (typeof DOWNLOAD_FORMATS)[number];

export const YANK_REASONS = ['broken', 'security', 'legal'] as const;
export type YankReason = (typeof YANK_REASONS)[number];

export const LIST_SORTS = ['trending', 'recently_verified', 'recent', 'name'] as const;
export type ListSort = (typeof LIST_SORTS)[number];

export const TRENDING_WINDOWS = ['24h', '7d', '30d'] as const;
export type TrendingWindow = (typeof TRENDING_WINDOWS)[number];
