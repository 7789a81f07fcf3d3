/** The names with which client and server declare what is beyond the core of the specification. */

/** The name of the event notification, and of the experimental capability for it. */
export const codexEvent = "codex/event"

/** The extension with which a client of revision 2026-07-28 asks for `codex/event`. */
export const eventsExtension = "colloquy/codex-event"

/** The extension for tasks of revision 2026-07-28. */
export const tasksExtension = "io.modelcontextprotocol/tasks"
