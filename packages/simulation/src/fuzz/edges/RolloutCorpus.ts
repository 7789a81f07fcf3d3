/** Rollout files of every generation: of this program, of the original product of September 2025, and of August 2025. Data only. */
import { encode } from "../Bytes.ts"

/** Id of the conversation in every file. */
export const rolloutId = "0199662d-5a59-7001-8002-000000000001"

const linesOf = (...lines: ReadonlyArray<string>): Uint8Array =>
  encode(lines.map((line) => `${line}\n`).join(""))

/** One file per generation. */
export const rolloutCorpus: ReadonlyArray<Uint8Array> = [
  linesOf(
    '{"timestamp":"2025-09-20T08:11:12.346Z","type":"session_meta","payload":{"id":"0199662d-5a59-7001-8002-000000000001","timestamp":"2025-09-20T08:11:12.346Z","cwd":"/w","originator":"colloquy","cli_version":"0.1.0","instructions":null}}',
    '{"timestamp":"2025-09-20T08:11:12.346Z","type":"colloquy_meta","payload":{"format":1,"provider":"offline","model":"offline"}}',
    '{"timestamp":"2025-09-20T08:11:12.345Z","type":"colloquy_event","payload":{"seq":0,"id":"","msg":{"type":"session_configured","session_id":"0199662d-5a59-7001-8002-000000000001","model":"offline","history_log_id":0,"history_entry_count":0}}}',
    '{"timestamp":"2025-09-20T08:11:12.345Z","type":"turn_context","payload":{"cwd":"/w","approval_policy":"on-request","sandbox_policy":{"mode":"read-only"},"model":"offline","summary":"auto"}}',
    '{"timestamp":"2025-09-20T08:11:12.345Z","type":"colloquy_settings","payload":{"settings":{"model":"offline","provider":"offline","cwd":"/w","approvalPolicy":"on-request","sandboxPolicy":{"mode":"read-only"},"summary":"auto"}}}',
    '{"timestamp":"2025-09-20T08:11:12.345Z","type":"colloquy_submission","payload":{"id":"0","chosen":true,"receipt":{"id":"0","disposition":"started"}}}',
    '{"timestamp":"2025-09-20T08:11:12.346Z","type":"colloquy_submission","payload":{"id":"0","chosen":false,"receipt":{"id":"0","disposition":"started"}}}',
    '{"timestamp":"2025-09-20T08:11:12.346Z","type":"colloquy_event","payload":{"seq":1,"id":"0","msg":{"type":"task_started","model_context_window":null}}}',
    '{"timestamp":"2025-09-20T08:11:12.347Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"hello"}]}}',
    '{"timestamp":"2025-09-20T08:11:12.348Z","type":"event_msg","payload":{"type":"user_message","message":"hello","kind":"plain"}}',
    '{"timestamp":"2025-09-20T08:11:12.349Z","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{}","call_id":"c1"}}',
    '{"timestamp":"2025-09-20T08:11:12.346Z","type":"colloquy_tool_call","payload":{"turnId":"0","callId":"c1","name":"shell","replay":"ask","attempt":1}}',
    '{"timestamp":"2025-09-20T08:11:12.350Z","type":"colloquy_event","payload":{"seq":5,"id":"0","msg":{"type":"exec_command_begin","call_id":"c1","command":["ls"],"cwd":"/w"}}}',
    '{"timestamp":"2025-09-20T08:11:12.351Z","type":"colloquy_event","payload":{"seq":6,"id":"0","msg":{"type":"exec_command_end","call_id":"c1","stdout":"out","stderr":"","aggregated_output":"out","exit_code":0,"duration":{"secs":0,"nanos":5},"formatted_output":"out"}}}',
    '{"timestamp":"2025-09-20T08:11:12.352Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"out"}}',
    '{"timestamp":"2025-09-20T08:11:12.353Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"about hello"}]}}',
    '{"timestamp":"2025-09-20T08:11:12.354Z","type":"event_msg","payload":{"type":"agent_message","message":"about hello"}}',
    '{"timestamp":"2025-09-20T08:11:12.355Z","type":"colloquy_event","payload":{"seq":10,"id":"0","msg":{"type":"task_complete","last_agent_message":"about hello"}}}',
    '{"timestamp":"2025-09-20T08:11:12.345Z","type":"colloquy_tool_call","payload":{"turnId":"0","callId":"c","name":"shell","replay":"ask","attempt":1}}',
    '{"timestamp":"2025-09-20T08:11:12.356Z","type":"colloquy_mark","payload":{"seq":11,"id":"1"}}',
    '{"timestamp":"2025-09-20T08:11:12.356Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":2,"reasoning_output_tokens":0,"total_tokens":3},"last_token_usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":2,"reasoning_output_tokens":0,"total_tokens":3},"model_context_window":null},"rate_limits":null}}',
    '{"timestamp":"2025-09-20T08:11:12.357Z","type":"colloquy_mark","payload":{"seq":12,"id":"1","keeps_input":true}}',
    '{"timestamp":"2025-09-20T08:11:12.357Z","type":"compacted","payload":{"message":"summary"}}',
    '{"timestamp":"2025-09-20T08:11:12.358Z","type":"colloquy_submission","payload":{"id":"2","chosen":false,"receipt":{"id":"2","disposition":"started"}}}',
    '{"timestamp":"2025-09-20T08:11:12.358Z","type":"colloquy_event","payload":{"seq":13,"id":"2","msg":{"type":"task_started","model_context_window":null}}}',
    '{"timestamp":"2025-09-20T08:11:12.359Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"again"}]}}',
    '{"timestamp":"2025-09-20T08:11:12.360Z","type":"event_msg","payload":{"type":"user_message","message":"again","kind":"plain"}}',
    '{"timestamp":"2025-09-20T08:11:12.361Z","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{}","call_id":"c1"}}',
    '{"timestamp":"2025-09-20T08:11:12.358Z","type":"colloquy_tool_call","payload":{"turnId":"2","callId":"c1","name":"shell","replay":"ask","attempt":1}}',
    '{"timestamp":"2025-09-20T08:11:12.362Z","type":"colloquy_event","payload":{"seq":17,"id":"2","msg":{"type":"exec_command_begin","call_id":"c1","command":["ls"],"cwd":"/w"}}}',
    '{"timestamp":"2025-09-20T08:11:12.363Z","type":"colloquy_event","payload":{"seq":18,"id":"2","msg":{"type":"exec_command_end","call_id":"c1","stdout":"out","stderr":"","aggregated_output":"out","exit_code":0,"duration":{"secs":0,"nanos":5},"formatted_output":"out"}}}',
    '{"timestamp":"2025-09-20T08:11:12.364Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"out"}}',
    '{"timestamp":"2025-09-20T08:11:12.365Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"about again"}]}}',
    '{"timestamp":"2025-09-20T08:11:12.366Z","type":"event_msg","payload":{"type":"agent_message","message":"about again"}}',
    '{"timestamp":"2025-09-20T08:11:12.367Z","type":"colloquy_event","payload":{"seq":22,"id":"2","msg":{"type":"task_complete","last_agent_message":"about again"}}}',
    '{"timestamp":"2025-09-20T08:11:12.345Z","type":"colloquy_question","payload":{"seq":15,"expiresAtMs":5}}',
    '{"timestamp":"2025-09-20T08:11:12.345Z","type":"colloquy_stop","payload":{"turnId":"2","reason":"interrupted"}}',
    '{"timestamp":"2025-09-20T08:11:12.345Z","type":"colloquy_attempt","payload":{"turnId":"2","attempt":2}}',
    '{"timestamp":"2025-09-20T08:11:12.368Z","type":"colloquy_event","payload":{"seq":23,"id":"3","msg":{"type":"task_started","model_context_window":null}}}',
    '{"timestamp":"2025-09-20T08:11:12.369Z","type":"event_msg","payload":{"type":"user_message","message":"open","kind":"plain"}}',
    '{"timestamp":"2025-09-20T08:11:12.370Z","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{}","call_id":"c9"}}',
  ),
  linesOf(
    '{"timestamp":"2025-09-20T08:11:12.345Z","type":"session_meta","payload":{"id":"0199662d-5a59-7001-8002-000000000001","timestamp":"2025-09-20T08:11:12.345Z","cwd":"/w","originator":"codex_cli_rs","cli_version":"0.39.0","instructions":null,"git":{"commit_hash":"abc","branch":"main"}}}',
    '{"timestamp":"2025-09-20T08:11:13.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>\\n  <cwd>/w</cwd>\\n</environment_context>"}]}}',
    '{"timestamp":"2025-09-20T08:11:13.001Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}}',
    '{"timestamp":"2025-09-20T08:11:13.002Z","type":"event_msg","payload":{"type":"user_message","message":"hi","kind":"plain"}}',
    '{"timestamp":"2025-09-20T08:11:13.003Z","type":"turn_context","payload":{"cwd":"/w","approval_policy":"never","sandbox_policy":{"mode":"danger-full-access"},"model":"gpt-5","summary":"auto"}}',
    '{"timestamp":"2025-09-20T08:11:13.004Z","type":"event_msg","payload":{"type":"token_count","info":null,"rate_limits":{"primary":null,"secondary":null}}}',
    '{"timestamp":"2025-09-20T08:11:13.005Z","type":"response_item","payload":{"type":"reasoning","summary":[],"content":null,"encrypted_content":null}}',
    '{"timestamp":"2025-09-20T08:11:13.006Z","type":"event_msg","payload":{"type":"agent_message","message":"A1"}}',
    '{"timestamp":"2025-09-20T08:11:13.007Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"A1"}]}}',
    '{"timestamp":"2025-09-20T08:11:13.008Z","type":"compacted","payload":{"message":"summary text"}}',
  ),
  linesOf(
    '{"id":"0199662d-5a59-7001-8002-000000000001","timestamp":"2025-08-20T08:11:12.345Z","instructions":"be brief","git":{"branch":"main"}}',
    '{"type":"message","id":null,"role":"user","content":[{"type":"input_text","text":"<environment_context>\\n  <cwd>/home/me/p</cwd>\\n</environment_context>"}]}',
    '{"record_type":"state"}',
    '{"type":"message","id":null,"role":"user","content":[{"type":"input_text","text":"hello"}]}',
    '{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"thinking"}],"encrypted_content":null}',
    '{"type":"local_shell_call","id":"l1","call_id":"c1","status":"completed","action":{"type":"exec","command":["ls"],"timeout_ms":null}}',
    '{"type":"function_call_output","call_id":"c1","output":{"content":"out","success":true}}',
    '{"type":"message","id":"m1","role":"assistant","content":[{"type":"output_text","text":"done"}]}',
  ),
]
