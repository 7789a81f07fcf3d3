/** The handshake of a connection: the client's name, and which forms of questions it understands. */
import { notification, request } from "../Method.ts"
import {
  initializeInfo,
  initializeMethod,
  InitializeParams,
  InitializeResult,
  UserAgent,
} from "./Initialize.ts"

/** The client introduces itself. */
export const Initialize = request(initializeMethod, {
  params: InitializeParams,
  result: InitializeResult,
  ...initializeInfo,
})

/** The client is ready. */
export const Initialized = notification("initialized", {
  since: "0.45",
  doc: "The client has received the response to `initialize`. It has no effect.",
})

/** Reports the user agent. */
export const GetUserAgent = request("getUserAgent", {
  result: UserAgent,
  since: "0.36",
  doc: "Reports the user agent that the server sends to providers.",
})
