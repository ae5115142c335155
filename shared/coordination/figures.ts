/** Constants of docs/api.md, "Circuits", for both stores. */
export const CIRCUIT = {
    /** Length of the window, in seconds. */
    windowS: 30,
    /** Fetches in the window before the circuit may open. */
    least: 20,
    /** How long a circuit stays open at first, and at most. */
    periodMs: 5000,
    longestMs: 60_000,
    /** Retry-After for callers while another caller's probe runs. Its end is unknown. */
    probePatienceMs: 1000,
    /** A circuit without a probe for this long counts as closed. */
    forgetMs: 600_000,
} as const;

/** Distance between requests that waited for the end of a pause, for sites without a rate. */
export const PAUSE_DISTANCE_MS = 100;

export const DEATHS = {
    /** Two deaths further apart are unrelated. */
    rememberMs: 600_000,
    quarantineMs: 3_600_000,
} as const;
