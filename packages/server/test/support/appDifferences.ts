/**
 * Where the app-server answers differently from the original (0.29 beside MCP, 0.45 by itself), in words for users, and
 * how each difference is recognised. Each is shown by at least one replay (`ReplayApp.test.ts`).
 */
import type { Difference } from "./Compare.ts"
import type { NamedDifference } from "./differences.ts"

interface AppDifference extends NamedDifference {
  readonly is: (difference: Difference) => boolean
}

const text = (value: unknown): string => JSON.stringify(value) ?? ""
const event = (d: Difference): string | undefined => /^codex\/event\/(.*)$/.exec(d.label)?.[1]
const whole = (d: Difference, kind: "added" | "missing") => d.kind === kind && d.path === ""
const members =
  (...paths: ReadonlyArray<string>) =>
  (d: Difference) =>
    d.label === "response" && d.kind === "added" && paths.includes(d.path)

export const appDifferences: ReadonlyArray<AppDifference> = [
  {
    key: "identity",
    original:
      "The server calls itself `codex_cli_rs`, and beside MCP `codex-mcp-server` with tools alone.",
    colloquy: "It calls itself `colloquy`, and declares what it serves.",
    why: "A client should see which server it talks to.",
    is: (d) =>
      d.label === "response" &&
      /^result\.(userAgent|serverInfo\..*|capabilities\..*)$/.test(d.path),
  },
  {
    key: "member",
    original: "Messages never have the member `jsonrpc`, whatever the client sends.",
    colloquy: "They have it when the client's have it.",
    why: "Libraries that read JSON-RPC want it, clients of the original do not miss it.",
    is: (d) => d.kind === "added" && d.path === "jsonrpc" && d.ours === "2.0",
  },
  {
    key: "event-members",
    original: "An event does not say which listener is sent it, nor which number it has.",
    colloquy:
      "It has `subscriptionId`, and `seq` where `addConversationListener` gave `after`; `conversationSkipped` has the number of an event that is not sent.",
    why: "A client that was away can continue where it was, and sees from the numbers when something was lost.",
    is: (d) => event(d) !== undefined && d.kind === "added" && d.path === "params.subscriptionId",
  },
  {
    key: "sent",
    original: "What is sent is answered by an empty object.",
    colloquy:
      "The answer says which turn it began or joined, and that of an interrupt which turn ended.",
    why: "A client can tell its own turn's events from others.",
    is: members("result.turnId", "result.disposition"),
  },
  {
    key: "always-answered",
    original: "`interruptConversation` is not answered when no turn runs or nobody listens.",
    colloquy: "It is always answered.",
    why: "A client that is never answered waits for ever.",
    is: (d) =>
      d.label === "response" &&
      whole(d, "added") &&
      text(d.ours).endsWith('"result":{"abortReason":"interrupted"}}'),
  },
  {
    key: "silence",
    original:
      "Beside MCP a request that cannot be read, or is of a later version, is not answered.",
    colloquy: "It is answered.",
    why: "A client that is never answered waits for ever.",
    is: (d) =>
      d.label === "response" &&
      whole(d, "added") &&
      !text(d.ours).endsWith('"result":{"abortReason":"interrupted"}}'),
  },
  {
    key: "faults",
    original: "What is wrong with a request is told as `Invalid request`.",
    colloquy: "Each faulty member follows, in the text and in `data.issues`; the code is the same.",
    why: "The person who reads it can put it right.",
    is: (d) =>
      d.label === "response" &&
      (d.path === "error.message"
        ? d.original === "Invalid request" && String(d.ours).startsWith("Invalid request: ")
        : d.path === "error.data" && text(d.ours).startsWith('{"issues":[{"path":')),
  },
  {
    key: "no-params",
    original: "A request whose parameters may all be left out cannot leave out `params`.",
    colloquy: "It can; and `model/list` is served, which later versions do.",
    why: "Nothing is missing.",
    is: (d) =>
      d.label === "response" &&
      ((d.kind === "missing" &&
        d.path === "error" &&
        text(d.original).includes("Invalid request")) ||
        (d.kind === "added" && d.path === "result")),
  },
  {
    key: "every-listener",
    original: "Two listeners share the events: each is told to one of them.",
    colloquy: "Every listener is told every event, the end of a conversation too.",
    why: "Neither could follow the conversation.",
    is: (d) => {
      const type = event(d)
      return type !== undefined && type !== "agent_message" && whole(d, "added")
    },
  },
  {
    key: "partial-text",
    original: "What an interrupted turn had said so far is told in pieces only.",
    colloquy: "It is told as a message as well, where every listener is told once more.",
    why: "It is in the history that the model sees, and who comes later reads it.",
    is: (d) => event(d) === "agent_message" && whole(d, "added"),
  },
  {
    key: "usage",
    original:
      "`token_count` tells the usage flat (0.29) or nested (0.45), and limits whose members are empty.",
    colloquy: "It tells it both ways, and no limits that are not known.",
    why: "One server speaks to clients of both.",
    is: (d) =>
      event(d) === "token_count" &&
      d.kind !== "missing" &&
      /^params\.msg\.(info|rate_limits|\w+_tokens)$/.test(d.path),
  },
  {
    key: "repeated-usage",
    original:
      "Every response of the model begins with a `token_count` that repeats the last one, or tells nothing.",
    colloquy: "`token_count` comes when there is something to tell.",
    why: "It tells nothing.",
    is: (d) => event(d) === "token_count" && whole(d, "missing"),
  },
  {
    key: "question-numbers",
    original: "Requests of the server are numbered from 0.",
    colloquy: "They are numbered from 1.",
    why: "Some clients cannot be told that a request 0 is over.",
    is: (d) => d.label.endsWith("Approval") && d.path === "id" && d.original === 0 && d.ours === 1,
  },
  {
    key: "parsed-command",
    original: "A question about a command does not say what the command does.",
    colloquy: "It has `parsedCmd`, as later versions.",
    why: "A person sees at a glance what is asked.",
    is: (d) =>
      d.kind === "added" && (d.path === "params.parsedCmd" || d.path === "params.msg.parsed_cmd"),
  },
  {
    key: "diff-once",
    original: "`turn_diff` is repeated after every response of the model.",
    colloquy: "It comes when a patch changed something.",
    why: "Nothing is lost.",
    is: (d) => event(d) === "turn_diff" && whole(d, "missing"),
  },
  {
    key: "rollout-path",
    original: "Not every answer that names a conversation names its file.",
    colloquy: "Where there is a file, every one that makes or takes up a conversation names it.",
    why: "`archiveConversation` and `resumeConversation` want it.",
    is: members("result.rolloutPath"),
  },
  {
    key: "resumed-turns",
    original:
      "A conversation that is taken up again counts its turns and its tokens from the beginning.",
    colloquy: "It goes on counting.",
    why: "The ids of turns stay unique, and the sum is the sum.",
    is: (d) =>
      event(d) !== undefined &&
      d.kind === "changed" &&
      (d.path === "params.id" || d.path.startsWith("params.msg.info.total_token_usage.")),
  },
  {
    key: "initial-messages",
    original:
      "`initialMessages` has the repeated `token_count` too, and `sessionConfigured` comes before the answer.",
    colloquy: "It has each once, and the answer comes first.",
    why: "What a request causes follows its answer.",
    is: (d) => d.kind === "changed" && /^(result|params)\.initialMessages$/.test(d.path),
  },
  {
    key: "last-page",
    original: "The last page of a list has a `nextCursor` as well.",
    colloquy: "It has none.",
    why: "A client sees that it has all.",
    is: (d) => d.kind === "missing" && d.path === "result.nextCursor",
  },
  {
    key: "denied-command",
    original: "A command that is denied is told to have ended (0.45).",
    colloquy: "It is not, as in earlier versions.",
    why: "It never ran.",
    is: (d) => event(d) === "exec_command_end" && whole(d, "missing"),
  },
  {
    key: "told-back",
    original: "The settings of a turn are told back as a message of the user (0.45).",
    colloquy: "They are told to who gives `after`, with what was said.",
    why: "Nobody has said them.",
    is: (d) =>
      event(d) === "user_message" &&
      whole(d, "missing") &&
      text(d.original).includes("<environment_context>"),
  },
  {
    key: "empty-turn",
    original: "A turn without anything to say ends without having begun (0.45).",
    colloquy: "Nothing happens.",
    why: "An end without a beginning confuses who counts turns.",
    is: (d) => event(d) === "task_complete" && whole(d, "missing"),
  },
  {
    key: "auth-words",
    original:
      "In 0.29 `codex/event/auth_status_change` tells of a login, and `preferredAuthMethod` of what is preferred.",
    colloquy: "`authStatusChange` and `requiresOpenaiAuth` tell of it, as in every later version.",
    why: "No version has both.",
    is: (d) =>
      (d.label === "authStatusChange" && whole(d, "added")) ||
      (event(d) === "auth_status_change" && whole(d, "missing")) ||
      d.path === "result.preferredAuthMethod" ||
      (d.kind === "added" && d.path === "result.requiresOpenaiAuth"),
  },
  {
    key: "config-words",
    original: "In 0.29 `getConfigToml` tells the saved configuration.",
    colloquy: "`getUserSavedConfig` does, as in every later version.",
    why: "0.45 no longer knows the older name.",
    is: (d) =>
      (d.kind === "missing" && d.path === "result" && text(d.original).includes('"profiles"')) ||
      (d.kind === "added" && d.path === "error" && text(d.ours).includes("getConfigToml")),
  },
  {
    key: "archived",
    original: "A conversation that was archived is not found.",
    colloquy: "The error says that it is archived.",
    why: "`resumeConversation` with the path of its file takes it up again.",
    is: (d) => d.path === "error.message" && String(d.ours).includes("is archived"),
  },
  {
    key: "outside",
    original:
      "A path outside the directory of sessions is looked at: the error is that of the system.",
    colloquy: "It is not looked at, and the error says why.",
    why: "A client must not find out about other files.",
    is: (d) =>
      d.path === "error.message" &&
      String(d.original).startsWith("error resuming conversation: ") &&
      String(d.ours).startsWith("error resuming conversation: "),
  },
  {
    key: "question-text",
    original: "The reason of a question is what the model or the tool wrote, where there is any.",
    colloquy:
      "It also says what an approval allows, names the files of a patch and the characters that look like others, and quotes what the model and the tool wrote.",
    why: "A client shows it, and a person decides by what they read.",
    is: (d) =>
      d.kind === "added" &&
      (d.path === "params.reason" || d.path === "params.msg.reason") &&
      String(d.ours).startsWith("If approved, "),
  },
]
