import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Code, Notice, ProblemNotice, Segmented } from '../../components/basics.tsx'
import { Form, Select } from '../../components/form.tsx'
import { Icon } from '../../components/icon.tsx'
import { formatBytes } from '../../lib/format.ts'
import { callFunction, type Answer, type Call, type Policy } from '../../lib/functions.ts'
import type { Project } from '../../lib/project.ts'
import { useAction } from '../../lib/use-action.ts'

const ROLES = [
  { value: 'anon', label: 'anon' },
  { value: 'service', label: 'service role' },
] as const
const WITHOUT_BODY = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Calls a function by hand and shows the answer. */
export function CallPanel(props: { project: Project; name: string; policy: Policy }): JSX.Element {
  const { project, name: called } = props
  const { methods, auth } = props.policy
  const [method, setMethod] = useState(methods.includes('POST') ? 'POST' : (methods[0] ?? 'POST'))
  const [target, setTarget] = useState('')
  const [body, setBody] = useState('{}')
  const [role, setRole] = useState<Call['role']>(auth === 'service' ? 'service' : 'anon')
  const [answer, setAnswer] = useState<Answer | null>(null)
  const { busy, problem, run } = useAction()
  const withBody = !WITHOUT_BODY.has(method)
  const wrong = withBody && body.trim() !== '' ? jsonProblem(body) : null

  const call = async () => {
    const [path = '', query = ''] = target.replace(/^\//, '').split('?')
    const sent = withBody && body.trim() !== '' ? { body } : {}
    setAnswer(await callFunction(project.ref, called, { method, path, query, role, ...sent }))
  }
  return (
    <section class="card" aria-labelledby="call-title">
      <header>
        <h2 id="call-title">Call</h2>
        <Segmented label="Key that is sent" value={role} onChange={setRole} options={ROLES} />
      </header>
      <Form class="body stack" onSubmit={() => void run(call)}>
        <div class="request-line">
          <Select
            aria-label="Method"
            value={method}
            options={methods.map((name) => [name, name])}
            onChoose={setMethod}
          />
          <input
            class="input mono"
            aria-label="Path and query after the name"
            placeholder={`/functions/v1/${called} /path ?query`}
            value={target}
            onInput={(event) => setTarget(event.currentTarget.value)}
          />
          <button type="submit" class="button primary" disabled={busy || wrong !== null}>
            <Icon name="play" size={14} />
            {busy ? 'Calling …' : 'Call'}
          </button>
        </div>
        {withBody && (
          <BodyInput
            body={body}
            wrong={wrong}
            help={role === 'service' ? 'The service role bypasses row-level security.' : ''}
            onBody={setBody}
          />
        )}
        {problem && <ProblemNotice problem={problem} />}
        {answer && !problem && <AnswerView answer={answer} />}
      </Form>
    </section>
  )
}

function BodyInput(props: {
  body: string
  wrong: string | null
  help: string
  onBody: (body: string) => void
}): JSX.Element {
  const { body, wrong, help, onBody } = props
  return (
    <div class="field">
      <label for="call-body">JSON body</label>
      <textarea
        id="call-body"
        class="textarea"
        spellcheck={false}
        value={body}
        aria-invalid={wrong !== null}
        aria-describedby="call-body-help"
        onInput={(event) => onBody(event.currentTarget.value)}
      />
      <p id="call-body-help" class={wrong ? 'problem' : 'help'}>
        {wrong ?? help}
      </p>
    </div>
  )
}

function AnswerView({ answer }: { answer: Answer }): JSX.Element {
  const { status, ms, bytes, headers, body, truncated } = answer
  return (
    <div class="stack answer" role="status">
      <div class="chips nums">
        <span class={`badge ${status < 400 ? 'success' : 'failed'}`}>{status}</span>
        <span class="dim">{ms} ms</span>
        <span class="dim">{formatBytes(bytes)}</span>
        <span class="dim">{headers['content-type'] ?? ''}</span>
      </div>
      {truncated && <Notice kind="warn">The body is truncated.</Notice>}
      {body !== '' && <Code label="Body of the answer" text={pretty(body, headers['content-type'] ?? '')} />}
      <details>
        <summary>Headers</summary>
        <Code
          label="Response headers"
          text={Object.entries(headers)
            .map(([name, value]) => `${name}: ${value}`)
            .join('\n')}
        />
      </details>
    </div>
  )
}

function pretty(body: string, type: string): string {
  if (!type.includes('json')) return body
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}

function jsonProblem(text: string): string | null {
  try {
    JSON.parse(text)
    return null
  } catch (error) {
    return `The body is not valid JSON: ${(error as Error).message}`
  }
}
