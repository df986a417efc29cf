import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Notice, ProblemNotice } from '../../components/basics.tsx'
import { Form } from '../../components/form.tsx'
import { base64Of, filesOfFolder, folderProblem, functionNameOf, type ChosenFile } from '../../lib/folder.ts'
import { formatBytes } from '../../lib/format.ts'
import { deployFunction } from '../../lib/functions.ts'
import type { Project } from '../../lib/project.ts'
import { useAction } from '../../lib/use-action.ts'

/** Makes an input ask for a folder; the attribute is missing in the HTML types. */
function asFolder(input: HTMLInputElement | null): void {
  input?.setAttribute('webkitdirectory', '')
}

/** Deploys a folder of this machine as a function. */
export function DeployBox({ project, onDone }: { project: Project; onDone: (name: string) => void }): JSX.Element {
  const [files, setFiles] = useState<readonly ChosenFile[]>([])
  const [left, setLeft] = useState<readonly string[]>([])
  const [name, setName] = useState('')
  const { busy, problem, run, clear } = useAction()
  const wrong = files.length === 0 ? null : folderProblem(name, files)
  const deploy = async () => {
    const entries = await Promise.all(
      files.map(async ({ path, file }) => [path, { base64: await base64Of(file) }] as const),
    )
    await deployFunction(project.ref, name, Object.fromEntries(entries))
    onDone(name)
  }
  const choose = (list: FileList | null) => {
    const chosen = [...(list ?? [])]
    const found = filesOfFolder(chosen)
    setFiles(found.files)
    setLeft(found.left)
    setName(functionNameOf(chosen))
    clear()
  }
  return (
    <Form class="card" aria-label="Deploy a folder" onSubmit={() => void run(deploy)}>
      <div class="body stack">
        <FolderInput onFiles={choose} />
        {files.length > 0 && (
          <>
            <NameInput
              name={name}
              wrong={wrong}
              help={`${sizeOf(files)}. A function of that name gets a new version.`}
              onName={setName}
            />
            {left.length > 0 && <LeftBehind names={left} />}
          </>
        )}
        {problem && <ProblemNotice problem={problem} />}
        <div class="row">
          <button type="submit" class="button primary" disabled={busy || files.length === 0 || wrong !== null}>
            {busy ? 'Building and starting it …' : 'Deploy'}
          </button>
        </div>
      </div>
    </Form>
  )
}

function FolderInput({ onFiles }: { onFiles: (files: FileList | null) => void }): JSX.Element {
  return (
    <div class="field">
      <label for="deploy-folder">Folder with an index.ts</label>
      <input
        ref={asFolder}
        id="deploy-folder"
        type="file"
        multiple
        onChange={(event) => onFiles(event.currentTarget.files)}
      />
      <p class="help">
        Callers and limits are set in its <code>function.json</code>. If it imports npm packages, deploy it with{' '}
        <code>terrane functions deploy</code>, which bundles them.
      </p>
    </div>
  )
}

function NameInput(props: {
  name: string
  wrong: string | null
  help: string
  onName: (name: string) => void
}): JSX.Element {
  const { name, wrong, help, onName } = props
  return (
    <div class="field">
      <label for="deploy-name">Name</label>
      <input
        id="deploy-name"
        class="input mono"
        value={name}
        placeholder="hello"
        aria-invalid={wrong !== null}
        aria-describedby="deploy-help"
        onInput={(event) => onName(event.currentTarget.value)}
      />
      <p id="deploy-help" class={wrong ? 'problem' : 'help'}>
        {wrong ?? help}
      </p>
    </div>
  )
}

function LeftBehind({ names }: { names: readonly string[] }): JSX.Element {
  return (
    <Notice kind="warn">
      Not sent: {names.slice(0, 3).join(', ')}
      {names.length > 3 && ` and ${names.length - 3} more`}. Hidden files and node_modules are left out; set secrets
      with <code>terrane functions secrets</code>.
    </Notice>
  )
}

function sizeOf(files: readonly ChosenFile[]): string {
  const bytes = files.reduce((sum, { file }) => sum + file.size, 0)
  return `${files.length} ${files.length === 1 ? 'file' : 'files'}, ${formatBytes(bytes)}`
}
