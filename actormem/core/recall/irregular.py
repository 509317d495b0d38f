"""English words whose other forms no stemmer finds: who asks what somebody bought may have written buy.

Verbs whose past is a common word of another meaning (`saw`, `left`, `felt`, `found`, `ground`, `wound`, `lay`)
are in where the verb is by far the commoner reading in talk, and left out where it is not.
"""

from typing import Final

__all__ = ["BASE_FORMS"]

FORMS: Final = """
    arise arose arisen; beat beaten; become became; begin began begun; bend bent; bet; bite bit bitten; bleed bled;
    blow blew blown; break broke broken; breed bred; bring brought; build built; burn burnt; buy bought; catch caught;
    choose chose chosen; come came; creep crept; cut; deal dealt; dig dug; draw drew drawn; dream dreamt;
    drink drank drunk; drive drove driven; eat ate eaten; fall fell fallen; feed fed; feel felt; fight fought;
    find found; flee fled; fly flew flown; forget forgot forgotten; forgive forgave forgiven; freeze froze frozen;
    get got gotten; give gave given; go went gone; grow grew grown; hang hung; hear heard; hide hid hidden; hold held;
    keep kept; know knew known; lead led; learn learnt; leave left; lend lent; lose lost; make made; mean meant;
    meet met; mistake mistook mistaken; overcome overcame; pay paid; prove proven; ride rode ridden; ring rang rung;
    rise rose risen; run ran; say said; see saw seen; seek sought; sell sold; send sent; sew sewn; shake shook shaken;
    shine shone; shoot shot; show shown; shrink shrank shrunk; sing sang sung; sink sank sunk; sit sat; sleep slept;
    slide slid; speak spoke spoken; spend spent; spill spilt; spin spun; spoil spoilt; steal stole stolen; stick stuck;
    sting stung; strike struck; swear swore sworn; sweep swept; swim swam swum; swing swung; take took taken;
    teach taught; tear tore torn; tell told; think thought; throw threw thrown; understand understood; wake woke woken;
    wear wore worn; weave wove woven; weep wept; win won; withdraw withdrew withdrawn; write wrote written;
    child children; foot feet; tooth teeth; man men; woman women; mouse mice; goose geese; person people; life lives;
    wife wives; knife knives; half halves; leaf leaves; loaf loaves; shelf shelves; thief thieves; wolf wolves;
    good better best; bad worse worst; far further farther
"""
BASE_FORMS: Final = {
    form: forms[0] for forms in (line.split() for line in FORMS.split(";")) for form in forms[1:]
}
