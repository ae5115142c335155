/** A duration in a unit that people read at a glance: `45 s`, `12 min`, `3 h`, `12 days`. */
export function formatSeconds(seconds: number): string {
    if (seconds < 120) return `${seconds} s`;
    if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
    return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} days`;
}
