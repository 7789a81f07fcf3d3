/** The provider's responses and the machine's facts for each recording of the app-server. */
import type { UserSavedConfig } from "@colloquy/protocol/app/Host"
import * as Script from "@colloquy/testing/ProviderScript"
import * as Effect from "effect/Effect"
import { HostFailed, HostPort } from "../../src/app/ports/HostPort.ts"
import { UserConfig } from "../../src/app/ports/UserConfigPort.ts"
import type { AppReplay } from "./AppReplaying.ts"
import { defaultReply, settingsWith } from "./Harness.ts"
import type { Entry } from "./Recording.ts"

const answers = (...texts: ReadonlyArray<string>) =>
  texts.map((text) => Script.reply(Script.text(text)))

const always: Script.ProviderScript = () => defaultReply

/** The call that the recording's model made, by its id. */
const oneCall = (entries: ReadonlyArray<Entry>): Script.ProviderScript => {
  const [, callId = ""] =
    /"call_id":\s*"([^"]*)"/.exec(JSON.stringify(entries).replaceAll("\\", "")) ?? []
  return [Script.reply(Script.toolCall("shell", {}, callId)), Script.reply(Script.text("finished"))]
}

const ran = (exitCode: number, stdout: string, stderr: string) =>
  Effect.succeed({ exitCode, stdout, stderr })
const failed = (message: string) => Effect.fail(new HostFailed({ message }))

/** As the machine of the recording, word by word. */
const host: HostPort["Service"] = {
  ...HostPort.none,
  runCommand: ({ argv: [program, ...args], settings }) => {
    if (settings.cwd === "/no/such") return failed("No such file or directory (os error 2)")
    switch (program) {
      case "echo":
        return ran(0, `${args.join(" ")}\n`, "")
      case "bash":
        return ran(3, "out\n", "err\n")
      case "pwd":
        return ran(0, `${settings.cwd}\n`, "")
      case "sleep":
        return args[0] === "1"
          ? Effect.delay(ran(0, "", ""), "50 millis")
          : failed("sandbox error: command timed out")
      case "touch":
        return failed("codex-linux-sandbox was required but not provided")
      default:
        return failed("No such file or directory (os error 2)")
    }
  },
}

const savedBefore: UserSavedConfig = {
  approvalPolicy: "never",
  sandboxMode: "danger-full-access",
  model: "mock-model",
  profiles: {},
}

const config = (): UserConfig["Service"] => {
  let saved = savedBefore
  return {
    saved: Effect.sync(() => saved),
    setDefaultModel: ({ model, reasoningEffort }) =>
      Effect.sync(() => {
        const { model: _, modelReasoningEffort: __, ...rest } = saved
        saved = {
          ...rest,
          ...(model === undefined ? {} : { model }),
          ...(reasoningEffort === undefined ? {} : { modelReasoningEffort: reasoningEffort }),
        }
      }),
  }
}

/** The replays, by recording name. */
export const appReplays: Readonly<Record<string, (entries: ReadonlyArray<Entry>) => AppReplay>> = {
  conv_basic: () => ({
    script: [
      Script.reply(Script.deltas("Hel", "lo ", "there")),
      Script.reply(Script.text("second")),
      defaultReply,
    ],
  }),
  conv_exec_approved: (entries) => ({ script: oneCall(entries) }),
  conv_exec_denied: (entries) => ({ script: oneCall(entries) }),
  conv_patch_approved: (entries) => ({ script: oneCall(entries) }),
  conv_exec_one_off: () => ({ script: [], ports: { host } }),
  conv_interrupt: () => ({
    script: [Script.reply(Script.deltas("par", "tial"), Script.hang), ...answers("after")],
  }),
  conv_interrupt_idle: () => ({ script: always }),
  conv_list_resume_archive: () => ({ script: answers("A1", "B1", "resumed answer") }),
  conv_misc: () => ({
    script: [],
    ports: { config: config() },
    settings: settingsWith({ approval_policy: "never", sandbox_mode: "danger-full-access" }),
  }),
  conv_two_listeners: () => ({ script: always }),
  conv_unknown_ids: () => ({ script: [] }),
  conv_user_turn: () => ({ script: answers("turn one", "turn two") }),
}
