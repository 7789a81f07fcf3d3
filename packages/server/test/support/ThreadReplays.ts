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

/** What the model finds in the second review. */
const findings = {
  findings: [
    {
      title: "T",
      body: "B",
      confidence_score: 0.5,
      priority: 1,
      code_location: {
        absolute_file_path: "/workspace/hello.txt",
        line_range: { start: 1, end: 1 },
      },
    },
  ],
  overall_correctness: "patch is correct",
  overall_explanation: "fine",
  overall_confidence_score: 0.9,
}

const loadedList = (id: number) => ({
  jsonrpc: "2.0",
  id,
  method: "thread/loaded/list",
  params: {},
})

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
  // The findings of the model are not shown as it writes them.
  app_review: () => ({
    script: [
      [
        Script.reply(Script.text(defaultAnswer)),
        Script.reply(Script.text(JSON.stringify(findings))),
        Script.reply(Script.bareDeltas('{"fin'), Script.hang),
      ],
    ],
    said: { 4: "look at hello.txt", 5: "", 10: "hang" },
  }),
  // Some messages are only named, because they are sent in several frames or are very long.
  app_ws_frames: () => ({
    frames: {
      "fragment 2": [
        "A",
        {
          jsonrpc: "2.0",
          id: 1,
          method: "initialize",
          params: { clientInfo: { name: "x", version: "1" } },
        },
      ],
      "alive?": ["A", loadedList(5)],
      "text with trailing newline": ["A", loadedList(6)],
      "3 MB text": ["G", loadedList(77)],
    },
  }),
  app_reasoning: () => ({ config: { ...policies, show_raw_agent_reasoning: true } }),
}
