/**
 * A terminal as far as the demo uses one: lines that scroll, a cursor that goes up, clearing, and automatic wrapping.
 *
 * @module
 */

// deno-lint-ignore no-control-regex -- these are the controls
const CONTROL_REGEXP = /\u001b\[(\??)([0-9;]*)([A-Za-z])/y;

/** A terminal that remembers what has scrolled away. */
export class TerminalEmulator {
  readonly columns: number;
  readonly rows: number;
  /** Lines that have left the screen at its top. */
  readonly scrolled: string[] = [];
  /** Controls that it does not know. */
  readonly unknown: string[] = [];
  #screen: string[][];
  #row = 0;
  #column = 0;
  #wraps = true;

  constructor(columns: number, rows: number) {
    this.columns = columns;
    this.rows = rows;
    this.#screen = Array.from({ length: rows }, () => []);
  }

  /** What the screen shows, without empty lines at its end. */
  get screen(): string[] {
    const lines = this.#screen.map((line) => Array.from(line, (cell) => cell ?? " ").join("").trimEnd());
    while (lines.at(-1) === "") lines.pop();
    return lines;
  }

  /** Everything that was ever shown and not cleared. */
  get text(): string {
    return [...this.scrolled, ...this.screen].join("\n");
  }

  /** Takes output. */
  write(text: string): void {
    for (let at = 0; at < text.length;) {
      CONTROL_REGEXP.lastIndex = at;
      const control = CONTROL_REGEXP.exec(text);
      if (control === null) {
        this.#put(text[at] ?? "");
        at++;
      } else {
        this.#obey(control);
        at += control[0].length;
      }
    }
  }

  #put(character: string): void {
    if (character === "\n") {
      this.#column = 0;
      this.#nextRow();
    } else if (character === "\r") {
      this.#column = 0;
    } else {
      if (this.#column >= this.columns && this.#wraps) {
        this.#column = 0;
        this.#nextRow();
      }
      const line = this.#screen[this.#row];
      if (line !== undefined) line[Math.min(this.#column, this.columns - 1)] = character;
      this.#column++;
    }
  }

  #nextRow(): void {
    if (this.#row < this.rows - 1) {
      this.#row++;
      return;
    }
    const [first = [], ...rest] = this.#screen;
    this.scrolled.push(first.join("").trimEnd());
    this.#screen = [...rest, []];
  }

  #obey([whole, mark, number, name]: RegExpExecArray): void {
    const count = Number(number === "" ? 1 : number);
    if (name === "m") return;
    if (mark === "?" && number === "7" && (name === "h" || name === "l")) this.#wraps = name === "h";
    else if (name === "A") this.#row = Math.max(0, this.#row - count);
    else if (name === "J") this.#clearBelow();
    else this.unknown.push(whole);
  }

  #clearBelow(): void {
    this.#screen = this.#screen.map((line, row) =>
      row < this.#row ? line : row === this.#row ? line.slice(0, this.#column) : []
    );
  }
}
