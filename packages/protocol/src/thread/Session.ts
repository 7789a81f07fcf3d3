/** The handshake of a connection that uses app-server v2. The same connection may use v1 as well. */
import { notification, request } from "../Method.ts"
import { initializeInfo, InitializeParams, ServerIdentity } from "../app/Initialize.ts"

/** The client introduces itself. */
export const Initialize = request("initialize", {
  params: InitializeParams,
  result: ServerIdentity,
  ...initializeInfo,
})

/** The client is ready. */
export const Initialized = notification("initialized", {
  since: "0.45",
  doc: "The client has received the response to `initialize`. It has no effect, and may be left out.",
})
