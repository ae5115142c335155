/** Whether a text can be the id of a connection. The database rejects some other texts. */
export function isConnectionId(text: string): boolean {
    return /^con_[0-9A-Za-z]{1,64}$/.test(text);
}
