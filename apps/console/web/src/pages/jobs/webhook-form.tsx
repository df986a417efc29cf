import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { ProblemNotice, Segmented } from '../../components/basics.tsx'
import { Form, Line } from '../../components/form.tsx'
import { Icon } from '../../components/icon.tsx'
import type { Project } from '../../lib/project.ts'
import { useAction } from '../../lib/use-action.ts'
import { makeWebhook, type Webhook } from '../../lib/webhooks.ts'
import { TaskSelect } from './task-select.tsx'

const ENDS = {
  any: { label: 'Any outcome', statuses: ['success', 'failed'] },
  failed: { label: 'Failures', statuses: ['failed'] },
  success: { label: 'Successes', statuses: ['success'] },
} as const satisfies Readonly<Record<string, { label: string; statuses: Webhook['statuses'] }>>
type End = keyof typeof ENDS

const EXAMPLE_URL = 'https://example.com/hooks/terrane'

/** Form of a new webhook: its address, and the jobs that it is called for. */
export function WebhookForm(props: {
  project: Project
  onMade: (made: Webhook & { readonly secret: string }) => void
}): JSX.Element {
  const { project, onMade } = props
  const [url, setUrl] = useState('')
  const [description, setDescription] = useState('')
  const [task, setTask] = useState('')
  const [end, setEnd] = useState<End>('any')
  const { busy, problem, run } = useAction()
  const make = async () => {
    const tasks = task === '' ? null : ([task] as NonNullable<Webhook['tasks']>)
    onMade(await makeWebhook(project.ref, { url, description, tasks, statuses: [...ENDS[end].statuses] }))
    setUrl('')
    setDescription('')
  }
  return (
    <Form class="card" aria-label="New webhook" onSubmit={() => void run(make)}>
      <div class="body stack">
        <div class="two">
          <Line label="URL" value={url} onValue={setUrl} type="url" required placeholder={EXAMPLE_URL} />
          <Line
            label="Description"
            value={description}
            onValue={setDescription}
            maxLength={200}
            placeholder="Notifies the map team"
          />
        </div>
        <div class="row">
          <TaskSelect class="select fit" task={task} onTask={setTask} />
          <Segmented
            label="Outcome"
            value={end}
            onChange={setEnd}
            options={Object.entries(ENDS).map(([value, { label }]) => ({ value: value as End, label }))}
          />
          <button type="submit" class="button primary" disabled={busy || url === ''}>
            <Icon name="plus" size={14} />
            Create the webhook
          </button>
        </div>
        {problem && <ProblemNotice problem={problem} />}
      </div>
    </Form>
  )
}
