/**
 * The dialect `app-server` v1: conversations over plain JSON-RPC without the `jsonrpc` member. Its methods are defined in
 * this folder; no other code contains their names. The wire: packages/docs/wire/app-server.md.
 */
import { eventTypes } from "../EventMsg.ts"
import { dialect } from "../Method.ts"
import * as Account from "./Account.ts"
import * as Approvals from "./Approvals.ts"
import * as Conversations from "./Conversations.ts"
import * as Events from "./Events.ts"
import * as Host from "./Host.ts"
import * as Messages from "./Messages.ts"
import * as Session from "./Session.ts"

/** The dialect with all its methods. */
export const AppServer = dialect({
  name: "app-server",
  command: "colloquy app-server",
  clientToServer: [
    Session.Initialize,
    Session.Initialized,
    Events.CancelRequest,
    Session.GetUserAgent,
    Conversations.NewConversation,
    Conversations.ListConversations,
    Conversations.ResumeConversation,
    Conversations.ArchiveConversation,
    Conversations.ForkConversation,
    Conversations.GetConversation,
    Messages.SendUserMessage,
    Messages.SendUserTurn,
    Messages.InterruptConversation,
    Messages.AddConversationListener,
    Messages.RemoveConversationListener,
    Account.LoginApiKey,
    Account.LoginChatGpt,
    Account.CancelLoginChatGpt,
    Account.LogoutChatGpt,
    Account.GetAuthStatus,
    Account.UserInfo,
    Account.AccountRateLimitsRead,
    Host.GitDiffToRemote,
    Host.ExecOneOffCommand,
    Host.FuzzyFileSearch,
    Host.GetUserSavedConfig,
    Host.SetDefaultModel,
    Host.ModelList,
  ],
  serverToClient: [
    Approvals.ApplyPatchApproval,
    Approvals.ExecCommandApproval,
    Approvals.ElicitationRequest,
    ...eventTypes.map(Events.eventNotification),
    Events.SessionConfigured,
    Events.ConversationSynced,
    Events.ConversationLagged,
    Events.ConversationSkipped,
    Events.ConversationClosed,
    Events.CancelRequest,
    Account.AccountRateLimitsUpdated,
    Account.AuthStatusChange,
    Account.LoginChatGptComplete,
  ],
})
