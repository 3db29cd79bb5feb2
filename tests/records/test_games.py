"""Game records: the golden games in every notation, and what is said of broken records."""

import json
from pathlib import Path

import pytest

from solver.errors import IllegalMoveError, RecordError, RecordMoveError, RulesError
from solver.game.boards import BOARD_24, Board
from solver.game.position import Position
from solver.game.rules import Rules, get_rules
from solver.records.games import NOTATIONS, Game, Notation, move_text, read_game, read_games, write_game
from solver.records.playok import from_playok, points_in_rows, to_playok
from tests.conftest import Run
from tests.support.paths import GOLDEN
from tests.support.small_boards import NINE_POINTS

GAMES = json.loads((GOLDEN / "games.json").read_text())
NINE = get_rules("nine")
KURNIK = get_rules("kurnik")
SIX = get_rules("six")

# Black closes two mills with g7: a7-d7-g7 and g7-g4-g1.
DOUBLE_MILL = "d6 a7 b4 d7 f4 g4 d2 g1 b2 g7xd6xf4"


def golden_game(name: str) -> tuple[Game, dict]:
    data = next(game for game in GAMES if game["name"] == name)
    return read_game(" ".join(data["turns"]), get_rules(data["rules"])), data


@pytest.mark.parametrize("data", GAMES, ids=lambda data: data["name"])
@pytest.mark.parametrize("notation", NOTATIONS)
def test_golden_games_survive_every_notation(data: dict, notation: Notation) -> None:
    game, _ = golden_game(data["name"])
    assert [str(move) for move in game.moves] == data["turns"]
    assert (game.final.fen(), game.result) == (data["final"], data["result"])
    written = write_game(game, notation)
    assert read_game(written) == game
    assert read_game(written, game.rules, notation) == game
    assert max(map(len, written.splitlines())) <= 80
    assert written.rstrip().endswith(data["result"])


def test_golden_playok_text_equals_its_turns() -> None:
    game, data = golden_game("record-1")
    assert move_text(game, "playok") == data["playok"]
    read = read_game(data["playok"], NINE)
    assert [str(move) for move in read.moves] == data["turns"]
    assert read_game(data["playok"]).rules == KURNIK


def test_playok_numbers_run_row_by_row() -> None:
    numbers = {name: number for number, name in enumerate(points_in_rows(BOARD_24), start=1)}
    assert [numbers[name] for name in ("a7", "d7", "g7", "b6", "f6", "c5", "a4", "c4", "e4", "g4", "a1", "g1")] == [
        1, 2, 3, 4, 6, 7, 10, 12, 13, 15, 22, 24,
    ]  # fmt: skip
    assert sorted(numbers.values()) == list(range(1, 25))
    for text in ("d6", "a4-a7xd1", "g7xe5xd1"):
        assert from_playok(BOARD_24, to_playok(BOARD_24, text)) == text


@pytest.mark.parametrize("notation", NOTATIONS)
def test_double_captures(notation: Notation) -> None:
    game = read_game(DOUBLE_MILL, KURNIK)
    assert read_game(write_game(game, notation)).moves == game.moves
    last = move_text(game, notation).split()[-1]
    assert last == ("3x5x14" if notation == "playok" else "g7xd6xf4")
    assert read_game(DOUBLE_MILL.replace("xd6xf4", "xf4xd6"), KURNIK).moves == game.moves


def test_tags_numbers_comments_and_variations_are_read() -> None:
    text = """\ufeff[White "Anna \\"A\\" \\\\"]
        [Site "a [site]"] [Result "0-1"]

        1.d6 {a comment (with parentheses} f4! 2. d2 (2. a1 {no )} a4 (2... d7)) 2... b4?? $14 ; 3. x9
        3. c4 *
        """
    game = read_game(text, NINE)
    assert [str(move) for move in game.moves] == ["d6", "f4", "d2", "b4", "c4"]
    assert game.result == "0-1"
    assert game.tags == {"White": 'Anna "A" \\', "Site": "a [site]"}
    assert read_game(write_game(game)) == game


def test_a_comment_may_stand_before_the_capture() -> None:
    game, data = golden_game("record-1")
    text = move_text(game, "sanmill").replace("a4-a7xd1", "a4-a7! {closes} xd1")
    assert [str(move) for move in read_game(text, NINE).moves] == data["turns"]


def test_positions_have_their_history() -> None:
    game, data = golden_game("record-1")
    positions = list(game.positions())
    assert len(positions) == len(game.moves) + 1
    assert positions[0] == Position(NINE)
    assert positions[-1].fen() == data["final"]
    assert positions[-1].move_stack == game.moves
    assert hash(game) == hash(read_game(write_game(game)))


@pytest.mark.parametrize("notation", NOTATIONS)
@pytest.mark.parametrize("side", ["w", "b"])
def test_games_that_were_set_up(notation: Notation, side: str) -> None:
    start = f"WW.W..../BB.B..../........ {side} 0,0 3"
    position = Position.from_fen(NINE, start)
    moves = [str(position.legal_moves[0])]
    position.push_text(moves[0])
    moves.append(str(position.legal_moves[0]))
    game = read_game(f'[Position "{start}"] 1{"." if side == "w" else "..."} {" ".join(moves)}', NINE)
    assert game.start == start
    assert read_game(write_game(game, notation)) == game
    assert write_game(game, notation).count("1...") == (side == "b")


def test_sanmill_counts_pairs_from_a_first_turn_of_black() -> None:
    fen = "********/O*******/******** b p p 1 8 0 9 0 0 0 0 0 0 0 0 1"
    game = read_game(f'[FEN "{fen}"]\n[SetUp "1"]\n\n1. a7 d7\n2. g7 *')
    assert [str(move) for move in game.moves] == ["a7", "d7", "g7"]
    assert game.final.turn == "white"


def test_rules_by_tag_and_by_notation() -> None:
    assert read_game('[Rules "six"] 1. c4 *').rules == SIX
    assert read_game("1. d6").rules == NINE
    assert read_game("1. 5").rules == KURNIK
    assert read_game('[Site "PlayOK"]').rules == KURNIK
    with pytest.raises(RulesError, match="unknown preset 'chess'"):
        read_game('[Rules "chess"] 1. d6')
    with pytest.raises(RecordError, match="variant 'El Filja'"):
        read_game('[Variant "El Filja"] 1. d6')


@pytest.mark.parametrize("rules", [SIX, get_rules("six", quiet_limit=40)])
def test_other_boards(rules: Rules) -> None:
    game = read_game("1. c5 a1 2. e3", rules)
    assert move_text(game, "playok") == "1. 2 14 2. 10"
    assert read_game(write_game(game, "playok"), rules) == game
    with pytest.raises(RecordError, match="Sanmill has the board of 24 points only"):
        write_game(game, "sanmill")


def test_boards_without_coordinates_have_no_numbers() -> None:
    game = read_game("a3 b2", Rules("three", NINE_POINTS, 3))
    assert move_text(game, "playok") == "1. 1 5"
    names = tuple(f"p{i}q" for i in range(9))
    nameless = Board("nameless", names, NINE_POINTS.edges, NINE_POINTS.lines, (9,))
    with pytest.raises(RecordError, match="PlayOK numbers need point names"):
        read_game("1. 5", Rules("nameless", nameless, 3), "playok")


def test_many_games_in_one_text() -> None:
    games = [golden_game(data["name"])[0] for data in GAMES]
    text = "\n".join(write_game(game, notation) for game, notation in zip(games, [*NOTATIONS, "playok"], strict=True))
    assert read_games(text) == games
    assert read_games("") == []
    with pytest.raises(RecordError, match="4 games, expected one"):
        read_game(text)
    with pytest.raises(RecordError, match="game 3: move 1 of White: 'd6-d7'"):
        read_games(text.replace("1. d6 d2", "1. d6-d7 d2"))


MILL = "1. d6 f4 2. d2 b4 3. a1 a4 4. d1 "  # Black closes a4-b4-c4 with c4

BROKEN = {
    "unknown point": ("1. d6 f4 2. d9", "move 2 of White: turn text 'd9': the board has no point 'd9'; expected a"),
    "unknown number": ("1. 5 25", "move 1 of Black: turn text '25': the board has no point 25, expected 1 to 24"),
    "no turn": ("1. d6 hello", "move 1 of Black: turn text 'hello': the board has no point 'hello'"),
    "no PlayOK turn": ("1. 5 d6", "move 1 of Black: turn text 'd6': expected a turn such as 5, 10-1, 3x9"),
    "too many parts": ("1. d6-d7-g7", "expected a turn such as d6"),
    "too few captures": (MILL + "c4", "move 4 of Black: 'c4' takes 0 stones, expected 1,"),
    "too many captures": (MILL + "c4xd6xd1", "move 4 of Black: 'c4xd6xd1' takes 2 stones, expected 1,"),
    "capture without a mill": ("1. d6 f4xd6", "move 1 of Black: 'f4xd6' takes 1 stones, expected 0,"),
    "illegal removal": (MILL + "c4xb4", "'c4xb4' takes a stone that may not be taken in '.....WWB"),
    "occupied": ("1. d6 d6", "move 1 of Black: 'd6' goes to a point that is not empty"),
    "too early": ("1. d6 f4 2. d6-d7", "'d6-d7' moves a stone, but 8 are still in hand"),
    "text after the result": ("1. d6 f4 1-0 d2", "move 2 of White: 'd2' after the result 1-0, expected nothing more"),
    "two results": ("1. d6 f4 1-0 0-1", "'0-1' after the result 1-0, expected nothing more"),
    "wrong number": ("1. d6 f4 3. d2", "move 2 of White: read the number '3.', expected 2."),
    "missing turn": ("1. d6 2. f4", "move 1 of Black: read the number '2.', expected the second turn of move 1"),
    "two numbers": ("1. d6 f4 2. 2. d2", "move 2 of White: read the number '2.' after '2.', expected a turn"),
    "open comment": ("1. d6 {f4", "move 1 of Black: read a comment that is not closed, expected a }"),
    "open variation": ("1. d6 (1. d7", "move 1 of Black: read a variation that is not closed"),
    "stray parenthesis": ("1. d6 ) f4", "move 1 of Black: read a ) without its ("),
    "stray bracket": ("1. d6 ] f4", "read a ] without its tag"),
    "broken tag": ("[White Anna] 1. d6", "move 1 of White: read a [ that begins no tag"),
    "stray brace": ("1. d6 } f4", "read a } without its {"),
    "result of the tag": ('[Result "38-26"] 1. d6', "tag Result '38-26', expected 1-0, 0-1, 1/2-1/2, *"),
    "results differ": ('[Result "1-0"] 1. d6 0-1', "result 0-1, expected 1-0 as in the tag"),
    "nothing": (" \n", "no turn, no tag and no result, expected one game"),
    "a very long number": ("1" * 9000 + ". d6", "move 1 of White"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "message"), BROKEN.values(), ids=BROKEN)
def test_broken_records_say_where_and_what_was_expected(text: str, message: str) -> None:
    with pytest.raises(RecordError) as error:
        read_game(text)
    assert message in str(error.value)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 500


def test_illegal_turns_name_the_legal_ones_most_alike_first() -> None:
    with pytest.raises(RecordMoveError) as error:
        read_game(MILL + "c4xb4")
    assert isinstance(error.value, IllegalMoveError)
    # d6, d2, a1 and d1 are White's stones, none in a mill.
    assert set(error.value.legal[:4]) == {"c4xd6", "c4xd2", "c4xa1", "c4xd1"}
    assert all(text in str(error.value) for text in error.value.legal[:4])
    position = Position.from_turns(NINE, ["d6", "f4", "d2", "b4", "a1", "a4", "d1"])
    assert sorted(error.value.legal) == sorted(map(str, position.legal_moves))
    with pytest.raises(RecordMoveError, match=r"'13' goes to .* legal: 1, 2,"):
        read_game("1. 13 13")


def test_turns_in_the_moving_phase_that_are_not_legal() -> None:
    start = '[Position "WWW.W.../BBB.B.../........ w 0,0 0"] '
    for text, problem in {
        "d1": "'d1' places a stone, but none is in hand",
        "b6-c5": "'b6-c5' moves no stone of White",
        "a7-a1": "'a7-a1' moves a stone to a point that is no neighbour",
    }.items():
        with pytest.raises(RecordMoveError, match=f"move 1 of White: {problem}"):
            read_game(start + text, NINE)


def test_nothing_follows_the_end_of_a_game() -> None:
    game, data = golden_game("record-1")
    turns = " ".join(data["turns"])
    with pytest.raises(RecordError, match=r"move 20 of Black: 'd6-d7' after the end of the game .White won .blocked"):
        read_game(turns + " d6-d7", NINE)
    with pytest.raises(RecordError, match=r"result 0-1, expected 1-0: White won \(blocked\)"):
        read_game(turns + " 0-1", NINE)
    with pytest.raises(RecordError, match="the game is over: White won"):
        read_game(turns + " d9", NINE)
    assert game.result == "1-0"


def test_what_cannot_be_written_is_refused() -> None:
    game = read_game("1. d6", NINE)
    for tags in ({"Two words": "x"}, {"White": "a\nb"}, {"Result": "1-0"}):
        with pytest.raises(RecordError, match="cannot be written"):
            write_game(Game(NINE, game.moves, tags=tags))
    with pytest.raises(RecordError, match="notation 'morse'"):
        write_game(game, "morse")  # type: ignore[arg-type]
    with pytest.raises(RecordError, match="notation 'morse'"):
        read_game("1. d6", notation="morse")  # type: ignore[arg-type]


def test_convert_script(tmp_path: Path, run: Run) -> None:
    game, data = golden_game("record-1")
    record = tmp_path / "game.txt"
    record.write_text(write_game(game))
    status, numbers, _ = run("convert.py", record, "--to", "playok")
    assert (status, " ".join(numbers.split()).split("] ")[-1]) == (0, data["playok"] + " 1-0")
    record.write_text(numbers)
    assert run("convert.py", record) == (0, write_game(game), "")
    record.write_text(numbers + "\n" + numbers)
    assert run("convert.py", record, "--to", "sanmill") == (0, "\n".join([write_game(game, "sanmill")] * 2), "")
    record.write_text("1. d6 d6")
    for path, message in ((record, "move 1 of Black: 'd6' goes to"), (tmp_path / "none", "cannot be read")):
        status, out, errors = run("convert.py", path)
        assert (status, out, errors.count("\n")) == (2, "", 1)
        assert message in errors
    record.write_text("")
    assert "no game in it" in run("convert.py", record)[2]
