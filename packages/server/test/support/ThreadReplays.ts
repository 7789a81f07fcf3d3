/** What the replays of app-server v2 need besides their recordings. */
import * as Script from "@colloquy/testing/ProviderScript"
import { defaultAnswer } from "./Harness.ts"
import type { Entry } from "./Recording.ts"
import type { ThreadReplay } from "./ThreadReplaying.ts"
import { scriptOf } from "./ThreadScript.ts"

type Replies = ReadonlyArray<Script.ProviderReply>

/** The replies that the recording shows, with more of them for what only Colloquy asks. */
const withReply = (entries: ReadonlyArray<Entry>, place: number, text: string): Replies =>
  scriptOf(entries).toSpliced(place, 0, Script.reply(Script.text(text)))

const policies = { approval_policy: "never", sandbox_mode: "danger-full-access" }

/** The replays that need more, by recording name. */
export const threadReplays: Readonly<
  Record<string, (entries: ReadonlyArray<Entry>) => ThreadReplay>
> = {
  // The client does not want the notifications that show the response.
  app_caps_optout: () => ({ script: [[Script.reply(Script.text(defaultAnswer))]] }),
  // The input that the original refuses during a compaction is answered after it.
  app_compact: (entries) => ({ script: [withReply(entries, 3, "while compacting")] }),
  // As the client has written it to the file before it starts a thread.
  app_config: () => ({ config: { ...policies, model: "batch", model_reasoning_effort: "low" } }),
  app_model_retry: () => ({ config: { ...policies, provider: { stream_max_retries: 2 } } }),
  // The original does not show the turn of a client that is not subscribed.
  app_thread_ops: (entries) => ({ script: [withReply(entries, 1, "B")] }),
  app_reasoning: () => ({ config: { ...policies, show_raw_agent_reasoning: true } }),
}
