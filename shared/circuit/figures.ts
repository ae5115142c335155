/** The figures of CONTRACT section 4, "Circuit", that both stores work with. */
export const CIRCUIT = {
    /** Seconds that are looked back. */
    windowS: 30,
    /** Fetches that must have ended within it. */
    least: 20,
    /** How long it stays open at first, and at most. */
    periodMs: 5000,
    longestMs: 60_000,
    /** What callers are told to wait while somebody else's probe runs: nobody can know how long that takes. */
    probePatienceMs: 1000,
    /** A circuit that nobody probed for so long counts as closed. */
    forgetMs: 600_000,
} as const;

/** Distance between requests that waited for the end of a pause, where the site has no pace of its own. */
export const PAUSE_DISTANCE_MS = 100;

export const DEATHS = {
    /** Two deaths further apart have nothing to do with each other. */
    rememberMs: 600_000,
    quarantineMs: 3_600_000,
} as const;
