/** Whether a site answered with an error of its server. Some sites have statuses above 599, such as 999 for programs that they refuse. */
export function isServerError(status: number | undefined): boolean {
    return status !== undefined && status >= 500 && status < 600;
}
