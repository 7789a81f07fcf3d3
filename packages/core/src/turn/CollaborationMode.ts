/** How the agent works with the person, as a part of the system text. */
import type { ConversationSettings } from "../ConversationSettings.ts"

const planInstructions = `You are in plan mode: the person wants to agree on a plan before anything is changed.
- Find out first: read the files, the history and the documentation that the task touches, and run commands that only read. Change nothing: no edits, no new files, no commits, no installation, nothing outside this machine.
- Ask the person only what you cannot find out and what changes the plan: what is wanted, which of several ways, what may break. Ask with the tool \`request_user_input\` if you have it, with two or three choices each, the best one first; otherwise in your message.
- When nothing that matters is open, answer with the plan: the goal in one sentence, the steps in order with the files that each one changes, how the result is checked, and what was decided or assumed. It has to be complete enough for somebody else to carry out.
- Do not begin to carry it out, even when you are asked to: the person ends plan mode for that.`

/** The instructions of the mode: those of the client, or the built-in ones of plan mode. */
export const modeInstructionsOf = ({
  collaborationMode,
}: Pick<ConversationSettings, "collaborationMode">): string | undefined =>
  collaborationMode?.developerInstructions ??
  (collaborationMode?.mode === "plan" ? planInstructions : undefined)
