/** The text `userAgent` of the app-server. Pure. */

/**
 * @param userAgent the server's part
 * @param client what the client said about itself; absent before `initialize`
 */
export const userAgentText = (
  userAgent: string,
  client?: { readonly name: string; readonly version: string },
): string => (client === undefined ? userAgent : `${userAgent} (${client.name}; ${client.version})`)
